"""What was shown and clicked, as arrays, and the estimates of a click model, shrunken to what is expected of the positions where a
document was shown."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from relevancy.statistics.arrays import FloatArray, IntArray

PRIOR_STRENGTH = 10.0  # examinations


@dataclass(frozen=True)
class ClickCounts:
    """Counts of pairs, a document for a query, at positions: m rows, one for each pair and position.

    pairs: [m] number of the pair, from 0. positions: [m] from 1. shown: [m] searches in which the document was shown there.
    clicks: [m] searches in which it was clicked, at most `shown`. size: P, the number of pairs. depth: R, the last position.
    """

    pairs: IntArray
    positions: IntArray
    shown: FloatArray
    clicks: FloatArray
    size: int
    depth: int

    @classmethod
    def build(cls, *, pairs: ArrayLike, positions: ArrayLike, shown: ArrayLike, clicks: ArrayLike) -> Self:
        """Counts pairs and positions."""
        numbers, ranks = (np.asarray(values, dtype=np.int64) for values in (pairs, positions))
        searches, clicked = (np.asarray(values, dtype=np.float64) for values in (shown, clicks))
        return cls(numbers, ranks, searches, clicked, int(numbers.max(initial=-1)) + 1, int(ranks.max(initial=0)))

    def by_pair(self, values: FloatArray) -> FloatArray:
        """Returns [P] sums of [m] values."""
        return np.bincount(self.pairs, weights=values, minlength=self.size)

    def by_position(self, values: FloatArray) -> FloatArray:
        """Returns [R] sums of [m] values, from position 1 on."""
        return np.bincount(self.positions - 1, weights=values, minlength=self.depth)

    def click_rates(self) -> FloatArray:
        """Returns [R] clicks per search that showed a document at the position; 0 where nothing was shown."""
        return divide(self.by_position(self.clicks), self.by_position(self.shown))


def divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Returns the quotients; 0 where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)


@dataclass(frozen=True)
class ClickEstimates:
    """Estimates of P pairs.

    values: [P] after shrinkage. unshrunken: [P]; 0 without evidence. priors: [P] what a pair at its positions has on average.
    evidence: [P] examinations: as many users who looked at the document would tell as much.
    clipped: the share of all shown documents whose weight was clipped; only of inverse propensity weights.
    """

    values: FloatArray
    unshrunken: FloatArray
    priors: FloatArray
    evidence: FloatArray
    clipped: float = 0.0


def shrink(
    *, sums: FloatArray, evidence: FloatArray, priors: FloatArray, strength: float, top: float = np.inf
) -> tuple[FloatArray, FloatArray]:
    """Returns `(shrunken, unshrunken)`: `(sum + m · prior) / (evidence + m)` and `sum / evidence`, at most `top`.

    strength: m, the evidence that the prior counts as. This is the mean of the posterior distribution for a gamma prior with the mean
    `prior` and clicks that follow a Poisson distribution. Pairs with little evidence come close to their prior.
    """
    return np.minimum(divide(sums + strength * priors, evidence + strength), top), divide(sums, evidence)
