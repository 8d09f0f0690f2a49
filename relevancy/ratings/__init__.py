"""Service: ratings of documents. Every change is logged and increments the revision of the query."""

from .imported_rows import move_ratings_of
from .imports import GivenGrade, ImportFailed, import_ratings, sweep_imports
from .new_ratings import NewRating
from .ratings import (
    InvalidRating,
    RatingRefused,
    RatingsChanged,
    ScaleChanged,
    clean_doc_id,
    find_refusal,
    rate,
    rate_book,
    rate_many,
    remove,
)
from .undo import UndoneRatings, last_change, undo

__all__ = [
    "GivenGrade",
    "ImportFailed",
    "InvalidRating",
    "NewRating",
    "RatingRefused",
    "RatingsChanged",
    "ScaleChanged",
    "UndoneRatings",
    "clean_doc_id",
    "find_refusal",
    "import_ratings",
    "last_change",
    "move_ratings_of",
    "rate",
    "rate_book",
    "rate_many",
    "remove",
    "sweep_imports",
    "undo",
]
