"""How many queries a difference needs. See docs/decisions/0124."""

from __future__ import annotations

import math

from relevancy.statistics import StatisticsError
from relevancy.statistics.power import t_quantiles

MAX_QUERIES = 10_000_000


def required_queries(deviation: float, difference: float) -> int:
    """Returns the smallest n ≥ 2 with `n ≥ ((t.975,n−1 + t.8,n−1) · sd / δ)²`.

    Raises StatisticsError if the difference is not above 0, the deviation is negative, or more than 10 million queries would be
    needed.
    """
    if not difference > 0 or not deviation >= 0 or not math.isfinite(deviation):
        raise StatisticsError("The difference must be above 0, and the deviation a number from 0.")
    low, high = 1, 2  # low is too few
    while not _is_enough(high, deviation, difference):
        low, high = high, high * 2
        if high > MAX_QUERIES:
            raise StatisticsError(f"A difference of {difference:g} points would need more than 10 million queries.")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _is_enough(middle, deviation, difference) else (middle, high)
    return high


def _is_enough(queries: int, deviation: float, difference: float) -> bool:
    return queries >= (t_quantiles(queries) * deviation / difference) ** 2
