"""Service: ratings of documents. Every change is logged and increments the revision of the query."""

from . import judge_models
from .agreement import BookAgreement, RaterPair, measure_agreement
from .book_settings import set_guidelines, set_rule, set_scale
from .books import (
    GradeCount,
    RaterCount,
    books_to_judge,
    count_by_grade,
    count_by_rater,
    count_pairs_by_level,
    find_books,
    queries_with_coverage,
)
from .copying import COPY_SOURCE, NewRating, copy_ratings, store_ratings
from .imported_rows import move_ratings_of
from .imports import ImportFailed, import_ratings, sweep_imports
from .judging import (
    CLAIM,
    COUNTED,
    JudgingProgress,
    claim_pair,
    judge,
    judging_progress,
    last_judged,
    next_pairs,
    pairs_of,
    release_pairs,
)
from .judging_documents import JudgedDocument, read_documents
from .judging_queue import build_judging_queue, is_outdated, judging_queue, queue_build, set_judging
from .ratings import InvalidRating, RatingResult, RatingsChanged, clean_doc_id, rate, rate_book, rate_many, remove
from .undo import UndoneRatings, last_change, undo

__all__ = [
    "CLAIM",
    "COPY_SOURCE",
    "COUNTED",
    "BookAgreement",
    "GradeCount",
    "ImportFailed",
    "InvalidRating",
    "JudgedDocument",
    "JudgingProgress",
    "NewRating",
    "RaterCount",
    "RaterPair",
    "RatingResult",
    "RatingsChanged",
    "UndoneRatings",
    "books_to_judge",
    "build_judging_queue",
    "claim_pair",
    "clean_doc_id",
    "copy_ratings",
    "count_by_grade",
    "count_by_rater",
    "count_pairs_by_level",
    "find_books",
    "import_ratings",
    "is_outdated",
    "judge",
    "judge_models",
    "judging_progress",
    "judging_queue",
    "last_change",
    "last_judged",
    "measure_agreement",
    "move_ratings_of",
    "next_pairs",
    "pairs_of",
    "queries_with_coverage",
    "queue_build",
    "rate",
    "rate_book",
    "rate_many",
    "read_documents",
    "release_pairs",
    "remove",
    "set_guidelines",
    "set_judging",
    "set_rule",
    "set_scale",
    "store_ratings",
    "sweep_imports",
    "undo",
]
