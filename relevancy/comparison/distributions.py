"""How the scores and the search times of two runs are distributed, over the same steps."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .query_rows import QueryRow

SCORE_STEP = 10  # points


@dataclass(frozen=True)
class Distribution:
    """How many queries lie in each step in either run.

    unit: of the steps. steps: such as `10–20`; the upper end is not included, except for a score of 100.
    before, after: number of queries in each step, in the baseline and in the other run.
    """

    unit: str
    steps: Sequence[str]
    before: Sequence[int]
    after: Sequence[int]

    @property
    def table(self) -> list[tuple[str, str, str]]:
        """The steps with both numbers, as text."""
        return [
            (step, f"{before:,}", f"{after:,}")
            for step, before, after in zip(self.steps, self.before, self.after, strict=True)
        ]


@dataclass(frozen=True)
class SearchTimes:
    """The search times of the queries that both runs searched.

    median, p95: milliseconds in the baseline and in the other run: the smallest values that half and 95 % of the times do not exceed.
    """

    queries: int
    median: tuple[int, int]
    p95: tuple[int, int]
    distribution: Distribution


def distribute_scores(rows: Sequence[QueryRow]) -> Distribution:
    """Returns the distribution of the scores of compared queries, in steps of 10 points."""
    edges = range(0, 100, SCORE_STEP)
    steps = [f"{edge}–{edge + SCORE_STEP}" for edge in edges]
    before, after = [row.score_a or 0.0 for row in rows], [row.score_b or 0.0 for row in rows]
    return Distribution("score", steps, _count(before, edges), _count(after, edges))


def distribute_search_times(rows: Sequence[QueryRow]) -> SearchTimes | None:
    """Returns the search times in steps that grow: 0–1, 1–2, 2–5, 5–10 ms and so on; None if no query has times in both runs."""
    times = [(row.took_a, row.took_b) for row in rows if row.took_a is not None and row.took_b is not None]
    if not times:
        return None
    before, after = [before for before, _ in times], [after for _, after in times]
    least, most = min(before + after), max(before + after)
    edges = [0]
    while edges[-1] <= most:
        power, position = divmod(len(edges) - 1, 3)
        edges.append((1, 2, 5)[position] * 10**power)
    shown = [(low, high) for low, high in pairwise(edges) if low <= most and high > least]
    steps = [low for low, _ in shown]
    return SearchTimes(
        queries=len(times),
        median=(_percentile(before, 0.5), _percentile(after, 0.5)),
        p95=(_percentile(before, 0.95), _percentile(after, 0.95)),
        distribution=Distribution(
            "ms", [f"{low:,}–{high:,}" for low, high in shown], _count(before, steps), _count(after, steps)
        ),
    )


def _count(values: Sequence[float], edges: Sequence[int]) -> list[int]:
    """Returns how many values each step has. edges: where the steps begin; the last one has no end."""
    counts = Counter([bisect_right(edges, value) for value in values])
    return [counts[number] for number in range(1, len(edges) + 1)]


def _percentile(values: Sequence[int], share: float) -> int:
    """Returns the smallest value that at least this share of the values does not exceed."""
    return sorted(values)[math.ceil(share * len(values)) - 1]
