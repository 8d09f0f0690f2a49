"""Ratings that are stored with their log by statements written by hand: a million objects would take minutes."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from relevancy.models import Rating, RatingChange


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
    at, rows = _time(now), []
    for new in ratings:
        rated_at = at if new.rated_at is None else _time(new.rated_at)
        rows.append(
            (
                new.query_id,
                new.doc_id,
                new.rater_id,
                new.verdict,
                new.value,
                new.note,
                new.is_adjudication,
                rated_at,
                rated_at,
            )
        )
    _insert(Rating._meta.db_table, _RATING, rows)
    changes = [
        (*row[:3], by_id, source, "", *row[3:5], "", False, row[6], at)  # no rating before, and no note
        for row in rows
    ]
    _insert(RatingChange._meta.db_table, _CHANGE, changes)


# Columns with their types in PostgreSQL.
_RATING = {
    "query_id": "bigint",
    "doc_id": "text",
    "rater_id": "bigint",
    "verdict": "text",
    "value": "double precision",
    "note": "text",
    "is_adjudication": "boolean",
    "created_at": "timestamptz",
    "updated_at": "timestamptz",
}
_CHANGE = {
    "query_id": "bigint",
    "doc_id": "text",
    "rater_id": "bigint",
    "by_id": "bigint",
    "source": "text",
    "old_verdict": "text",
    "new_verdict": "text",
    "new_value": "double precision",
    "old_note": "text",
    "old_is_adjudication": "boolean",
    "new_is_adjudication": "boolean",
    "at": "timestamptz",
}


def _insert(table: str, columns: dict[str, str], rows: Sequence[tuple[Any, ...]]) -> None:
    if not rows:
        return
    statement = f"INSERT INTO {table} ({', '.join(columns)})"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            arrays = ", ".join(f"%s::{kind}[]" for kind in columns.values())
            cursor.execute(
                f"{statement} SELECT * FROM unnest({arrays})", [list(values) for values in zip(*rows, strict=True)]
            )
        else:
            cursor.executemany(f"{statement} VALUES ({', '.join(['%s'] * len(columns))})", rows)


def _time(time: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(time)
