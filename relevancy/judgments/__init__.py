"""Service: ratings of documents. Every change is logged and increments the revision of the query."""

from .ratings import InvalidRating, RatingResult, clean_doc_id, rate, rate_book, rate_many, remove

__all__ = [
    "InvalidRating",
    "RatingResult",
    "clean_doc_id",
    "rate",
    "rate_book",
    "rate_many",
    "remove",
]
