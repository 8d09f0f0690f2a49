"""The queries of a comparison as rows: filtered, sorted, from stored figures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import isnan
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from relevancy.statistics import TIE

from .figures import ComparisonFigures
from .result_lists import REORDERED, SAME
from .score_tables import Floats


class QueryRow(NamedTuple):
    """A query in the baseline `a` and in another run `b`.

    score_a, score_b: points; None if the query has no score in the run.
    difference: `score_b − score_a`; None unless the query counts in the comparison.
    jaccard, rbo, change: of the first k results; None unless both searches succeeded. `change` is one of `SAME`, `REORDERED` and
        `OTHER_DOCUMENTS`.
    unrated_a, unrated_b: unrated documents among those that the scorer considers; None if the run has no results.
    took_a, took_b: milliseconds of the search.
    best: points of the best order that today's ratings allow in run `b`; None if it is not known.
    """

    query_id: int
    text: str
    weight: float
    score_a: float | None
    score_b: float | None
    difference: float | None
    jaccard: float | None = None
    rbo: float | None = None
    change: int | None = None
    unrated_a: int | None = None
    unrated_b: int | None = None
    took_a: int | None = None
    took_b: int | None = None
    best: float | None = None

    @property
    def gain(self) -> float | None:
        """Points that the query can gain in run `b` with its best order."""
        return None if self.best is None or self.score_b is None else self.best - self.score_b

    @property
    def unrated(self) -> int | None:
        """The larger of the numbers of unrated documents."""
        numbers = [number for number in (self.unrated_a, self.unrated_b) if number is not None]
        return max(numbers) if numbers else None


STATES: dict[str, tuple[str, Callable[[QueryRow], bool]]] = {
    "better": ("Better", lambda row: row.difference is not None and row.difference >= TIE),
    "worse": ("Worse", lambda row: row.difference is not None and row.difference <= -TIE),
    "same": ("The same score", lambda row: row.difference is not None and abs(row.difference) < TIE),
    "changed": ("Results changed", lambda row: bool(row.change)),
    "reordered": ("Only the order changed", lambda row: row.change == REORDERED),
    "unchanged": ("Results unchanged", lambda row: row.change == SAME),
    "unrated": ("To judge among the first results", lambda row: bool(row.unrated)),
    "left_out": ("Not compared", lambda row: row.difference is None),
}
SORT_KEYS: dict[str, Callable[[QueryRow], float | str | None]] = {
    "query": lambda row: row.text.casefold(),
    "a": attrgetter("score_a"),
    "b": attrgetter("score_b"),
    "difference": attrgetter("difference"),
    "gain": attrgetter("gain"),
    "jaccard": attrgetter("jaccard"),
    "rbo": attrgetter("rbo"),
    "unrated": attrgetter("unrated"),
}


def list_rows(figures: ComparisonFigures, other: int = 1) -> list[QueryRow]:
    """Returns a row for each present query, in the order of the case. other: position of the run that is compared with the baseline."""
    present, columns = figures.comparison.table.present, figures.columns
    before, after = present.scores[:, 0], present.scores[:, other]
    points = [before, after, np.where(present.is_compared, after - before, np.nan)]
    overlaps = [columns.jaccard[:, other - 1], columns.rbo[:, other - 1]]
    counts = [columns.changes[:, other - 1], columns.unrated[:, 0], columns.unrated[:, other]]
    times = [columns.took_ms[:, 0], columns.took_ms[:, other]]
    return [
        QueryRow._make([query_id, text, weight, *numbers, *whole, best])
        for query_id, text, weight, (*numbers, best), whole in zip(
            present.query_ids,
            present.texts,
            present.weights.tolist(),
            _known([*points, *overlaps, present.best[:, other]], float),
            _known([*counts, *times], int),
            strict=True,
        )
    ]


def select_rows(
    rows: list[QueryRow],
    *,
    text: str = "",
    query_ids: Collection[int] | None = None,
    state: str = "",
    by_more_than: float = 0.0,
    sort: str = "-difference",
) -> list[QueryRow]:
    """Returns the rows that pass the filter, sorted by a key of `SORT_KEYS`, with "-" before it for the highest first; missing values
    come last, equal ones in their order.

    text: part of the query's text, in any case.
    query_ids: only these queries, such as those with a tag; None for all.
    state: a key of `STATES`, or empty.
    by_more_than: only queries whose score differs by more points, in the direction of `state` if that is "better" or "worse".
    """
    needle = text.casefold()
    matches = STATES[state][1] if state else None
    selected = [
        row
        for row in rows
        if (not needle or needle in row.text.casefold())
        and (query_ids is None or row.query_id in query_ids)
        and (matches is None or matches(row))
        and (not by_more_than or (row.difference is not None and abs(row.difference) > by_more_than))
    ]
    key = SORT_KEYS[sort.removeprefix("-")]
    present = [row for row in selected if key(row) is not None]
    missing = [row for row in selected if key(row) is None]
    present.sort(key=key, reverse=sort.startswith("-"))  # type: ignore[arg-type]  # all of one type, and none missing
    return present + missing


def _known(columns: Sequence[Floats], read: type[float | int]) -> list[list[Any]]:
    """Returns the rows of columns; None for missing values."""
    return [[None if isnan(value) else read(value) for value in row] for row in np.column_stack(columns).tolist()]
