"""Ratings that are stored with their log by statements written by hand: a million objects would take minutes."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from relevancy.models import Rating, RatingChange
from relevancy.models.inserts import insert_rows


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


def insert_ratings(ratings: Sequence[NewRating], *, by_id: int, source: str, now: datetime) -> None:
    """Stores and logs first ratings of documents. Two SQL statements. Raises `IntegrityError` for a repeated one."""
    insert_rows(Rating, _RATING, [_rating(new, new.rated_at or now) for new in ratings])
    changes = [
        (
            new.query_id,
            new.doc_id,
            new.rater_id,
            by_id,
            source,
            "",
            new.verdict,
            new.value,
            "",
            False,
            new.is_adjudication,
            now,
        )
        for new in ratings
    ]
    insert_rows(RatingChange, _CHANGE, changes)


def _rating(new: NewRating, at: datetime) -> tuple[Any, ...]:
    return (new.query_id, new.doc_id, new.rater_id, new.verdict, new.value, new.note, new.is_adjudication, at, at)


_RATING = (
    "query_id",
    "doc_id",
    "rater_id",
    "verdict",
    "value",
    "note",
    "is_adjudication",
    "created_at",
    "updated_at",
)
_CHANGE = (
    "query_id",
    "doc_id",
    "rater_id",
    "by_id",
    "source",
    "old_verdict",
    "new_verdict",
    "new_value",
    "old_note",
    "old_is_adjudication",
    "new_is_adjudication",
    "at",
)
