"""The interval of a cross-fitted gain: of what is chosen or fitted on four folds of the queries, measured on the fifth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relevancy.statistics.differences import Differences
from relevancy.statistics.intervals import LIMIT, Interval, find_interval

# Queries of different folds have made each other's choices, so that their gains vary together. With 1, the interval covers the true
# gain of simulated studies in 85 to 95 % of them; with 1.25 in 95 to 98 % (benchmarks/tuning.py).
WIDENING = 1.25


def find_cross_fitted_interval(draws: Sequence[Differences]) -> Interval | None:
    """Returns the 95 % interval of a cross-fitted gain, in points; None for fewer than two queries.

    draws: of folds: what the same queries, or units of queries, gain in each, with the same weights.

    Around the mean over the draws, with the mean length that the intervals of the draws have on each side, times `WIDENING`; cut at
    ±100.
    """
    intervals = [interval for draw in draws if (interval := find_interval(draw)) is not None]
    if len(intervals) < len(draws):
        return None
    middle = float(np.mean([draw.mean for draw in draws]))
    pairs = list(zip(draws, intervals, strict=True))
    below = WIDENING * float(np.mean([draw.mean - interval.low for draw, interval in pairs]))
    above = WIDENING * float(np.mean([interval.high - draw.mean for draw, interval in pairs]))
    return Interval(max(middle - below, -LIMIT), min(middle + above, LIMIT), intervals[0].is_reliable)
