"""The mean that is the score of a case, and of any part of its queries."""


def case_mean(weighted_sum: float, weights: float) -> float | None:
    """Returns the mean of scores by the weights of their queries; None if no scored query has a weight.

    weighted_sum: of weight × score over the queries that have a score; weights: the sum of their weights. A query without a
    score belongs in neither: it is left out of the mean, and is not 0.
    """
    return weighted_sum / weights if weights else None
