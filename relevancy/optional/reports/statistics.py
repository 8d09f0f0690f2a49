"""How many queries a difference needs. See docs/decisions/0124."""

from relevancy.statistics.power import t_quantiles

MAX_QUERIES = 10_000_000


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
