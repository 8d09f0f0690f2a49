"""The workbench's query list as CSV: filtered and sorted as displayed, with the scores of one run under one scorer."""

from collections.abc import Iterable, Iterator
from typing import Any

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


def export_lines(case_queries: Iterable[tuple[int | None, Any]]) -> Iterator[str]:
    """Yields the list in parts, so that memory does not grow with the number of queries.

    case_queries: those of a queryset `with_scores`, in the order displayed, each after its number in the manual order of the case: the
        column `position`.

    Scores and their change have four decimals; missing values are empty. `error` is the error of the search or of a script.
    """
    rows = (
        (
            number,
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
        for number, row in case_queries
    )
    return write_rows(HEADER, rows)


def count_hits(row: Any) -> int | None:
    """Returns the number of hits the engine reported or, if it reports none, the number it returned."""
    if row.error_kind:
        return None
    hits: int | None = row.returned if row.hits is None else row.hits
    return hits
