"""The interval and the p of a cross-fitted gain: of what is chosen or fitted on four folds of the queries, measured on the fifth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from relevancy.statistics.differences import Differences
from relevancy.statistics.intervals import LIMIT, Interval, find_interval
from relevancy.statistics.verdicts import compare_several

# Queries of different folds have made each other's choices, so that their gains vary together. With 1, the interval covers the true
# gain of simulated studies in 85 to 95 % of them; with 1.25 in 95 to 98 % (benchmarks/tuning.py).
WIDENING = 1.25


@dataclass(frozen=True)
class CrossFittedGain:
    """What choosing gains on queries that have not chosen, in points.

    interval: 95 %. p: below .05 exactly if 0 is outside the interval. p_holm: corrected for all gains that are tested together. None if
        there are too few queries for p_holm ever to be below .05.
    """

    gain: float
    interval: Interval | None
    p: float | None
    p_holm: float | None


def find_cross_fitted_interval(draws: Sequence[Differences]) -> Interval | None:
    """Returns the 95 % interval of a cross-fitted gain, in points; None for fewer than two queries.

    draws: of folds: what the same queries, or units of queries, gain in each, with the same weights.

    That of the means over the draws, longer on each side of the gain by the factor `WIDENING`, and by how much larger the standard
    error of a draw is than that of the means; cut at ±100.
    """
    gains, factor = _combine(draws)
    return _stretch(find_interval(_move(gains, factor)), factor)


def compare_cross_fitted(gains: Sequence[Sequence[Differences]]) -> list[CrossFittedGain]:
    """Tests several cross-fitted gains together, such as those of tags. Each is given by its draws, as in
    `find_cross_fitted_interval`."""
    combined = [_combine(draws) for draws in gains]
    tested = compare_several([_move(differences, factor) for differences, factor in combined])
    return [
        CrossFittedGain(differences.mean, None, None, None)
        if figures is None
        else CrossFittedGain(differences.mean, _stretch(figures[0].interval, factor), figures[0].p, figures[1])
        for (differences, factor), figures in zip(combined, tested, strict=True)
    ]


def _combine(draws: Sequence[Differences]) -> tuple[Differences, float]:
    """Returns the means over the draws, and the factor by which their interval is lengthened."""
    means = Differences(np.mean([draw.values for draw in draws], axis=0), draws[0].weights)
    errors, own = [draw.standard_error or 0.0 for draw in draws], means.standard_error
    return means, WIDENING * (float(np.mean(errors)) / own if own else 1.0)


def _move(differences: Differences, factor: float) -> Differences:
    """Returns the differences, all of them nearer to 0 by the same number of points, so that their mean is smaller by the factor: the
    interval of these, multiplied by the factor, is that of the given ones, lengthened around their mean. 0 is in both or in neither."""
    return Differences(differences.values - differences.mean * (1.0 - 1.0 / factor), differences.weights)


def _stretch(interval: Interval | None, factor: float) -> Interval | None:
    if interval is None:
        return None
    low, high = (max(-LIMIT, min(factor * end, LIMIT)) for end in (interval.low, interval.high))
    return Interval(low, high, interval.is_reliable)
