"""Intervals for the mean difference of two runs.

Source: Efron & Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 12 (the bootstrap-t interval). With 20 queries or
more its 95 % interval covers the true mean in 94 to 95 of 100 cases; a percentile interval in 90 to 93.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy.special import stdtr, stdtrit

from relevancy.statistics.arrays import FloatArray
from relevancy.statistics.differences import Differences
from relevancy.statistics.generators import SEED, build_generator

RESAMPLES = 10_000
MIN_BOOTSTRAP_QUERIES = 20
LEVEL = 0.95
LIMIT = 100.0  # no two scores differ by more points
CHUNK = 500_000  # queries that are drawn at a time


class IntervalKind(StrEnum):
    """How an interval was computed."""

    BOOTSTRAP = "studentised bootstrap"
    T = "t"
    EQUAL = "equal differences"


@dataclass(frozen=True)
class Interval:
    """An interval of the mean difference, in points.

    is_reliable: whether there are enough queries to rely on it (at least 20).
    """

    low: float
    high: float
    kind: IntervalKind
    is_reliable: bool


def t_quantile(probability: float, degrees: int) -> float:
    """Returns the quantile of Student's t distribution."""
    return float(stdtrit(degrees, probability))


def t_test(differences: Differences) -> tuple[float, float] | None:
    """Returns `(t, p)` of the two-sided paired t test; None if there are fewer than two queries or the differences do not vary."""
    error = differences.standard_error
    if not error:
        return None
    t = differences.mean / error
    return t, float(2.0 * stdtr(len(differences) - 1, -abs(t)))


def find_interval(
    differences: Differences, *, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = SEED
) -> Interval | None:
    """Returns the interval of the mean difference, at 95 % unless a level is given; None for fewer than two queries.

    20 queries or more: studentised bootstrap, `[D − q.975 · se, D − q.025 · se]` with the quantiles of `(D* − D) / se*` over
    resamples of queries; resamples without variance are dropped. Fewer: t interval, not reliable. All differences equal: [D, D].
    Ends beyond ±100 points, where no difference of scores can be, are set to ±100, which keeps the coverage.
    """
    n = len(differences)
    error = differences.standard_error
    if error is None:
        return None
    mean = differences.mean
    is_reliable = n >= MIN_BOOTSTRAP_QUERIES
    if error == 0.0:
        return Interval(mean, mean, IntervalKind.EQUAL, is_reliable)
    if not is_reliable:
        kind, quantile = IntervalKind.T, t_quantile(0.5 + level / 2, n - 1)
        low, high = -quantile, quantile
    else:
        kind = IntervalKind.BOOTSTRAP
        low, high = np.quantile(_resample_t(differences, resamples, seed), [0.5 - level / 2, 0.5 + level / 2]).tolist()
    return Interval(max(mean - high * error, -LIMIT), min(mean - low * error, LIMIT), kind, is_reliable)


def _resample_t(differences: Differences, resamples: int, seed: int) -> FloatArray:
    """Returns `(D* − D) / se*` of each resample that has variance, in the order in which they were drawn."""
    n = len(differences)
    generator = build_generator(seed)
    # Around the mean, so that sums of squares lose no digits.
    centred = differences.values - differences.mean
    shares = differences.weights / differences.weights.mean()
    has_weights = bool(np.ptp(shares) > 0)
    first = shares * centred
    second = first * centred if not has_weights else first * first
    parts = []
    rows = max(1, CHUNK // n)
    index_type = np.uint16 if n <= 2**16 else np.uint32
    for start in range(0, resamples, rows):
        drawn = generator.integers(n, size=(min(rows, resamples - start), n), dtype=index_type).astype(np.intp)
        if has_weights:
            totals = shares.take(drawn).sum(axis=1)
            means = first.take(drawn).sum(axis=1) / totals
            # Σ w² (c − m)² = Σ w²c² − 2 m Σ w²c + m² Σ w²
            squares = (
                second.take(drawn).sum(axis=1)
                - 2.0 * means * (shares * first).take(drawn).sum(axis=1)
                + means**2 * (shares * shares).take(drawn).sum(axis=1)
            )
            variances = np.maximum(squares, 0.0) / totals**2 * n / (n - 1)
        else:
            means = first.take(drawn).sum(axis=1) / n
            squares = second.take(drawn).sum(axis=1)
            variances = np.maximum(squares / n - means**2, 0.0) / (n - 1)
        # Binary noise of resamples that drew the same difference n times.
        has_variance = variances > 1e-18 * float(second.max())
        parts.append(means[has_variance] / np.sqrt(variances[has_variance]))
    return np.concatenate(parts)
