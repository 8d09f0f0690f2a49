"""The workbench's query list as CSV: filtered and sorted as displayed, with the scores of one run under one scorer."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import QuerySet

from relevancy.formats.cells import rounded, write_rows

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
    """Yields the list in parts, so that memory does not grow with the number of queries.

    case_queries: a queryset `with_scores`, in the order displayed.
    numbers: the number of each query in the manual order of the case, by id of the case query: the column `position`.

    Scores and their change have four decimals; missing values are empty. `error` is the error of the search or of a script.
    """
    rows = (
        (
            numbers[row.pk],
            row.query.text,
            *map(rounded, (row.score, row.low, row.high, row.difference)),
            count_hits(row),
            row.unrated,
            row.took_ms,
            row.error or row.score_error,
            ", ".join(row.query.tags),
            row.query.information_need,
            row.query.notes,
        )
        for row in case_queries.iterator(chunk_size=CHUNK_SIZE)
    )
    return write_rows(HEADER, rows)


def count_hits(row: Any) -> int | None:
    """Returns the number of hits the engine reported or, if it reports none, the number it returned."""
    if row.error_kind:
        return None
    hits: int | None = row.returned if row.hits is None else row.hits
    return hits
