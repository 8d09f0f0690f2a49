"""Ratings that are stored with their log by two statements: `bulk_create` takes twelve times as long, three minutes for a million."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from relevancy.models import Rating, RatingChange
from relevancy.models.inserts import insert_rows

type RatingKey = tuple[int, str, int]
"""Query id, document id, rater's id."""


class NewRating(NamedTuple):
    """A rating to be stored, of a checked document id and grade. rated_at: None for now."""

    query_id: int
    doc_id: str
    rater_id: int
    verdict: str
    value: float | None
    note: str = ""
    rated_at: datetime | None = None
    is_adjudication: bool = False


class OldRating(NamedTuple):
    """What is replaced by a new rating of the same rater and document."""

    verdict: str = ""
    value: float | None = None
    note: str = ""
    rated_at: datetime | None = None
    is_adjudication: bool = False


_NONE = OldRating()
_STORED = ("query_id", "doc_id", "rater_id", "verdict", "value", "note", "is_adjudication", "created_at", "updated_at")
_REPLACED = ("verdict", "value", "note", "is_adjudication", "updated_at")
_REPLACE = f"(query_id, doc_id, rater_id) DO UPDATE SET {', '.join(f'{name} = EXCLUDED.{name}' for name in _REPLACED)}"
_LOGGED = (
    "query_id",
    "doc_id",
    "rater_id",
    "by_id",
    "source",
    "old_verdict",
    "old_value",
    "old_note",
    "old_rated_at",
    "old_is_adjudication",
    "new_verdict",
    "new_value",
    "new_is_adjudication",
    "rating_import_id",
    "at",
)


def insert_ratings(
    ratings: Sequence[NewRating],
    *,
    by_id: int,
    source: str,
    now: datetime,
    replaced: Mapping[RatingKey, OldRating] | None = None,
    rating_import_id: int | None = None,
) -> None:
    """Stores and logs ratings. replaced: the present ones that some of them replace; the others are the first of rater and document.

    Two SQL statements. Raises `IntegrityError` for a rating that is there and not among the replaced ones.
    """
    replaced = replaced or {}
    write_ratings(ratings, now, on_conflict=_REPLACE if replaced else "")
    changes = [
        (
            *new[:3],
            by_id,
            source,
            *replaced.get(new[:3], _NONE),
            new.verdict,
            new.value,
            new.is_adjudication,
            rating_import_id,
            now,
        )
        for new in ratings
    ]
    insert_rows(RatingChange, _LOGGED, changes)


def write_ratings(ratings: Sequence[NewRating], now: datetime, *, on_conflict: str = _REPLACE) -> None:
    """Stores ratings, and logs nothing. One SQL statement."""
    rows = [(*new[:6], new.is_adjudication, new.rated_at or now, new.rated_at or now) for new in ratings]
    insert_rows(Rating, _STORED, rows, on_conflict=on_conflict)
