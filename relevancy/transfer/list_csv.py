"""The list of queries as it is looked at: filtered, sorted, of one run under one scorer."""

from collections.abc import Iterator
from typing import Any

from .cells import guarded

HEADER = (
    "place",
    "query",
    "score",
    "low",
    "high",
    "change",
    "hits",
    "unrated",
    "ms",
    "error",
    "tags",
    "information_need",
    "notes",
)
CHUNK = 500


def lines(entries: Any) -> Iterator[str]:
    """The list as CSV, line by line, so that no more than 500 queries are held at once.

    `entries`: a queryset of case queries `with_scores`, in the order shown. `place` counts them from 1; scores and their change
    have four decimals, what is missing is empty. `error`: of the search, or of a script.
    """
    yield guarded(HEADER)
    for place, entry in enumerate(entries.iterator(chunk_size=CHUNK), 1):
        query = entry.query
        yield guarded(
            (
                place,
                query.text,
                *map(_number, (entry.score, entry.low, entry.high, entry.difference)),
                *map(_whole, (_hits(entry), entry.unrated, entry.took_ms)),
                entry.error or entry.score_error or "",
                ", ".join(query.tags),
                query.information_need,
                query.notes,
            )
        )


def _hits(entry: Any) -> int | None:
    """Hits the engine counted; where it does not count, those it returned."""
    if entry.error_kind:
        return None
    counted: int | None = entry.returned if entry.hits is None else entry.hits
    return counted


def _number(value: float | None) -> float | str:
    # Adding zero turns −0.0 into 0.0.
    return "" if value is None else round(value, 4) + 0.0


def _whole(value: int | None) -> int | str:
    return "" if value is None else value
