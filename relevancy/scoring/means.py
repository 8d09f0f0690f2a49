"""The mean that is the score of a case, and of any part of its queries."""

UNITS = 2.0**56  # per point, in exact sums


def exact_units(weighted_score: float) -> int:
    """Returns weight × score in units of 1/2⁵⁶ point, as an integer.

    Sums of integers do not depend on the order of what is summed, so a sum to which one score was added equals the sum of all
    scores. Exact for all that is at least 1/16 point, because a double has 53 bits; what is smaller loses less than one unit.
    """
    return int(weighted_score * UNITS)


def points(units: int) -> float:
    """Returns the points of a sum of `exact_units`, correctly rounded."""
    return units / 2**56


def case_mean(weighted_sum: float, weights: float) -> float | None:
    """Returns the mean of scores by the weights of their queries; None if no scored query has a weight.

    weighted_sum: of weight × score over the queries that have a score; weights: the sum of their weights. A query without a
    score belongs in neither: it is left out of the mean, and is not 0.
    """
    return weighted_sum / weights if weights else None
