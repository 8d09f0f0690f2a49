"""How large a difference a number of queries can show.

See docs/decisions/0124.
"""

from __future__ import annotations

import math

from relevancy.statistics.intervals import t_quantile

CONFIDENCE = 0.975  # two-sided test at 5 %
POWER = 0.8


def detectable_difference(deviation: float, queries: int) -> float | None:
    """Returns the smallest true difference, in points, that so many queries find four times in five; None for fewer than two.

    `(t.975,n−1 + t.8,n−1) · sd / √n`, with the standard deviation of the differences.
    """
    return t_quantiles(queries) * deviation / math.sqrt(queries) if queries >= 2 else None


def t_quantiles(queries: int) -> float:
    """Returns t.975,n−1 + t.8,n−1."""
    return t_quantile(CONFIDENCE, queries - 1) + t_quantile(POWER, queries - 1)
