"""Service: ratings of documents. Every change is logged and increments the revision of the query."""

from .agreement import BookAgreement, RaterPair, measure_agreement
from .book_settings import set_rule, set_scale
from .copying import COPY_SOURCE, copy_ratings
from .ratings import InvalidRating, RatingResult, clean_doc_id, rate, rate_book, rate_many, remove
from .undo import UndoneRatings, last_change, undo

__all__ = [
    "COPY_SOURCE",
    "BookAgreement",
    "InvalidRating",
    "RaterPair",
    "RatingResult",
    "UndoneRatings",
    "clean_doc_id",
    "copy_ratings",
    "last_change",
    "measure_agreement",
    "rate",
    "rate_book",
    "rate_many",
    "remove",
    "set_rule",
    "set_scale",
    "undo",
]
