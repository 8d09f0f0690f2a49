"""How large a difference a number of queries can show, and how many queries a difference needs.

See docs/decisions/0124.
"""

from __future__ import annotations

import math

from relevancy.statistics.intervals import t_quantile

CONFIDENCE = 0.975  # two-sided test at 5 %
POWER = 0.8
MAX_QUERIES = 10_000_000


def detectable_difference(deviation: float, queries: int) -> float | None:
    """Returns the smallest true difference, in points, that so many queries find four times in five; None for fewer than two.

    `(t.975,n−1 + t.8,n−1) · sd / √n`, with the standard deviation of the differences.
    """
    return t_quantiles(queries) * deviation / math.sqrt(queries) if queries >= 2 else None


def t_quantiles(queries: int) -> float:
    """Returns t.975,n−1 + t.8,n−1."""
    return t_quantile(CONFIDENCE, queries - 1) + t_quantile(POWER, queries - 1)


def required_queries(deviation: float, difference: float) -> int | None:
    """Returns the smallest n ≥ 2 with `n ≥ ((t.975,n−1 + t.8,n−1) · sd / δ)²`; None for more than 10 million. Both are above 0."""
    low, high = 1, 2  # low is too few
    while not _is_enough(high, deviation, difference):
        low, high = high, high * 2
        if high > MAX_QUERIES:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _is_enough(middle, deviation, difference) else (middle, high)
    return high


def _is_enough(queries: int, deviation: float, difference: float) -> bool:
    return queries >= (t_quantiles(queries) * deviation / difference) ** 2
