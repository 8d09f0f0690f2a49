"""The case score that people would give, estimated from a judge's scores of all queries and people's scores of a random sample.

Source: Angelopoulos, Duchi & Zrnic, "PPI++: Efficient Prediction-Powered Inference", 2023, for a mean. The judge may be wrong in any
way: its error is estimated on the sample and subtracted. A judge that does not follow people gets no weight.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from relevancy.statistics.arrays import FloatArray
from relevancy.statistics.errors import StatisticsError
from relevancy.statistics.intervals import t_quantile

MIN_RELIABLE_QUERIES = 20
CONFIDENCE = 0.975  # of both ends of a 95 % interval


@dataclass(frozen=True)
class CorrectedScore:
    """A mean score with its 95 % interval, in the unit of the scores it was computed from.

    weight: λ, how much the judge's scores of the other queries count, 0 (not at all) to 1.
    standard_error: of `value`.
    sampled, others: numbers of queries.
    is_reliable: whether there are enough sampled queries to rely on the interval (at least 20).
    """

    value: float
    low: float
    high: float
    standard_error: float
    weight: float
    sampled: int
    others: int
    is_reliable: bool


def correct_score(
    people: Sequence[float], judge: Sequence[float], judge_others: Sequence[float]
) -> CorrectedScore | None:
    """Returns the corrected mean score; None for fewer than two sampled queries.

    people, judge: [n] scores of the same sampled queries, drawn at random. judge_others: [N] the judge's scores of the other queries.
    `λ = clip(cov(h, f) / (var({f, F}) · (1 + n/N)), 0, 1)`, `θ = λ · mean(F) + mean(h − λf)`,
    `var = λ² · var(F) / N + var(h − λf) / n`, and the interval `θ ± t.975,n−1 · √var`. With fewer than two others, λ is 0.

    Raises `StatisticsError` if the sampled queries of people and judge are not as many, or a score is not a finite number.
    """
    h, f, others = (np.asarray(scores, dtype=np.float64) for scores in (people, judge, judge_others))
    if len(h) != len(f):
        raise StatisticsError(f"People scored {len(h)} sampled queries and the judge {len(f)}. Give the same queries.")
    if not all(np.isfinite(scores).all() for scores in (h, f, others)):
        raise StatisticsError("Scores must be finite numbers.")
    n = len(h)
    if n < 2:
        return None
    weight = _judge_weight(h, f, others)
    residuals = h - weight * f
    value, variance = float(residuals.mean()), float(residuals.var(ddof=1)) / n
    if weight:
        value += weight * float(others.mean())
        variance += weight**2 * float(others.var(ddof=1)) / len(others)
    error = math.sqrt(variance)
    margin = t_quantile(CONFIDENCE, n - 1) * error
    return CorrectedScore(
        value, value - margin, value + margin, error, weight, n, len(others), n >= MIN_RELIABLE_QUERIES
    )


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Returns Kendall's τ-b of the scores of the same queries, −1 to 1; None if all scores of one side are equal.

    Source: Kendall, "The treatment of ties in ranking problems", 1945.
    """
    x, y = (np.asarray(scores, dtype=np.float64) for scores in (first, second))
    if len(x) != len(y):
        raise StatisticsError(f"There are {len(x)} and {len(y)} scores. Give those of the same queries.")
    concordance = untied_x = untied_y = 0.0
    for position in range(1, len(x)):
        sign_x, sign_y = np.sign(x[position] - x[:position]), np.sign(y[position] - y[:position])
        concordance += float(sign_x @ sign_y)
        untied_x += float(np.abs(sign_x).sum())
        untied_y += float(np.abs(sign_y).sum())
    return concordance / math.sqrt(untied_x * untied_y) if untied_x and untied_y else None


def _judge_weight(h: FloatArray, f: FloatArray, others: FloatArray) -> float:
    """Returns λ."""
    if len(others) < 2:
        return 0.0
    variance = float(np.concatenate([f, others]).var(ddof=1))
    if variance <= 0.0:
        return 0.0
    covariance = float(np.cov(h, f, ddof=1)[0, 1])
    return min(1.0, max(0.0, covariance / (variance * (1.0 + len(h) / len(others)))))
