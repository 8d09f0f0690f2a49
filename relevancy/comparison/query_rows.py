"""The queries of a comparison as rows: filtered, sorted, from stored figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import NamedTuple

from relevancy.statistics import TIE

from .figures import ComparisonFigures

SAME, REORDERED, OTHER_DOCUMENTS = 0, 1, 2


class QueryRow(NamedTuple):
    """A query in the baseline `a` and in another run `b`.

    score_a, score_b: points; None if the query has no score in the run.
    difference: `score_b − score_a`; None unless the query counts in the comparison.
    jaccard, rbo, change: of the first k results; None unless both searches succeeded. `change` is one of `SAME`, `REORDERED` and
        `OTHER_DOCUMENTS`.
    unrated_a, unrated_b: unrated documents among those that the scorer considers; None if the run has no results.
    took_a, took_b: milliseconds of the search.
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
    "unrated": ("Unrated among the first k", lambda row: bool(row.unrated)),
    "left_out": ("Left out of the comparison", lambda row: row.difference is None),
}
SORT_KEYS: dict[str, Callable[[QueryRow], float | str | None]] = {
    "query": lambda row: row.text.casefold(),
    "a": lambda row: row.score_a,
    "b": lambda row: row.score_b,
    "difference": lambda row: row.difference,
    "jaccard": lambda row: row.jaccard,
    "rbo": lambda row: row.rbo,
    "unrated": lambda row: row.unrated,
}


def list_rows(figures: ComparisonFigures, other: int = 1) -> list[QueryRow]:
    """Returns a row for each present query, in the order of the case. other: position of the run that is compared with the baseline."""
    present, columns = figures.comparison.table.present, figures.columns
    pair = other - 1
    is_compared = present.is_compared.tolist()
    rows = []
    for (
        query_id,
        text,
        weight,
        counts,
        score_a,
        score_b,
        jaccard,
        rbo,
        change,
        unrated_a,
        unrated_b,
        took_a,
        took_b,
    ) in zip(
        present.query_ids,
        present.texts,
        present.weights.tolist(),
        is_compared,
        present.scores[:, 0].tolist(),
        present.scores[:, other].tolist(),
        columns.jaccard[:, pair].tolist(),
        columns.rbo[:, pair].tolist(),
        columns.changes[:, pair].tolist(),
        columns.unrated[:, 0].tolist(),
        columns.unrated[:, other].tolist(),
        columns.took_ms[:, 0].tolist(),
        columns.took_ms[:, other].tolist(),
        strict=True,
    ):
        rows.append(
            QueryRow(
                query_id,
                text,
                weight,
                _known(score_a),
                _known(score_b),
                score_b - score_a if counts else None,
                _known(jaccard),
                _known(rbo),
                *map(_whole, (change, unrated_a, unrated_b, took_a, took_b)),
            )
        )
    return rows


def select_rows(
    rows: list[QueryRow],
    *,
    text: str = "",
    query_ids: Collection[int] | None = None,
    state: str = "",
    by_more_than: float = 0.0,
    sort: str = "difference",
    descending: bool = True,
) -> list[QueryRow]:
    """Returns the rows that pass the filter, sorted by a key of `SORT_KEYS`; missing values come last, equal ones in their order.

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
    key = SORT_KEYS[sort]
    present = [row for row in selected if key(row) is not None]
    missing = [row for row in selected if key(row) is None]
    present.sort(key=key, reverse=descending)  # type: ignore[arg-type]  # all of one type, and none missing
    return present + missing


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _whole(value: float) -> int | None:
    return None if math.isnan(value) else int(value)
