"""The workbench's query list as CSV: filtered and sorted as displayed, with the scores of one run under one scorer."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import QuerySet

from relevancy.formats.cells import format_row

HEADER = (
    "position",
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
CHUNK_SIZE = 500


def export_lines(case_queries: QuerySet[Any], *, numbers: Mapping[int, int]) -> Iterator[str]:
    """Yields the list line by line, so that at most 500 queries are in memory.

    case_queries: a queryset `with_scores`, in the order displayed.
    numbers: the number of each query in the manual order of the case, by id of the case query: the column `position`.

    Scores and their change have four decimals; missing values are empty. `error` is the error of the search or of a script.
    """
    yield format_row(HEADER)
    for row in case_queries.iterator(chunk_size=CHUNK_SIZE):
        query = row.query
        yield format_row(
            (
                numbers[row.pk],
                query.text,
                *map(format_score, (row.score, row.low, row.high, row.difference)),
                *map(_format_count, (count_hits(row), row.unrated, row.took_ms)),
                row.error or row.score_error or "",
                ", ".join(query.tags),
                query.information_need,
                query.notes,
            )
        )


def count_hits(row: Any) -> int | None:
    """Returns the number of hits the engine reported or, if it reports none, the number it returned."""
    if row.error_kind:
        return None
    hits: int | None = row.returned if row.hits is None else row.hits
    return hits


def format_score(value: float | None) -> float | str:
    """Returns a score with four decimals; an empty cell for none."""
    # Adding zero turns −0.0 into 0.0.
    return "" if value is None else round(value, 4) + 0.0


def _format_count(value: int | None) -> int | str:
    return "" if value is None else value
