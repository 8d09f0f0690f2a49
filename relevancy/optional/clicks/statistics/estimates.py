"""The estimates of a click model, shrunken to what is expected of the positions where a document was shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relevancy.statistics.arrays import FloatArray

from .counts import divide

PRIOR_STRENGTH = 10.0  # examinations


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
