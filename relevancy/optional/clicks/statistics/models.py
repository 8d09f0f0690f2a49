"""Click models.

With `γ_r`, how likely users look at position r (`estimate_examination`), and for a pair p

- clicks over expected clicks (COEC): `Σ_r clicks_pr / Σ_r shown_pr ctr_r`. 1 is the average document at these positions. What users
  look at and what is better there are not told apart: good documents at the top are expected to be clicked often, and are underrated.
  Zhang & Jones, "Comparing click logs and editorial labels for training query rewriting", 2007.
- position-based model: `α_p = Σ_r clicks_pr / Σ_r shown_pr γ_r`, how likely a user who looks at the document clicks it.
- inverse propensity weights (IPS): `Σ_r clicks_pr w_r / Σ_r shown_pr`, `w_r = min(1/γ_r, cap)`. Without clipping it has no bias, but a
  larger variance than the position-based model; clipping adds a bias towards 0. Its evidence is the effective sample `(Σw)² / Σw²` over
  the examinations, of which `shown_pr γ_r` are expected. Joachims, Swaminathan & Schnabel, "Unbiased learning-to-rank with biased
  feedback", 2017.
- cascade, the simplified dynamic Bayesian network (sDBN): users read down, click what attracts them, and stop once they are satisfied.
  They have looked at everything down to their last click, and at everything if they have clicked nothing. Of a pair, with the number of
  searches in which it was examined so, clicked, and clicked last: attractiveness `a = clicks / examined`, satisfaction
  `s = last / clicks`, relevance `a · s = last / examined`. Takes a last click for a satisfied user. A user who reads to the end without
  being satisfied is counted as satisfied by the last click, so that relevance is overestimated, the more so for documents at the end of
  lists that satisfy few users. Chapelle & Zhang, "A dynamic Bayesian network click model for web search ranking", 2009, algorithm 1.
"""

import numpy as np

from relevancy.statistics.arrays import FloatArray

from .counts import PRIOR_STRENGTH, ClickCounts, ClickEstimates, divide, shrink

MAX_CLICK_WEIGHT = 10.0


def estimate_by_coec(counts: ClickCounts, *, strength: float = PRIOR_STRENGTH) -> ClickEstimates:
    """Returns clicks over expected clicks, with the prior 1. Evidence: searches, fewer at rarely clicked positions."""
    rates = counts.click_rates()
    expected = counts.by_pair(counts.shown * rates[counts.positions - 1])
    top = float(rates.max(initial=0.0))
    if not top:
        none = np.zeros(counts.size)
        return ClickEstimates(np.ones(counts.size), none, np.ones(counts.size), none)
    priors, clicks = np.ones(counts.size), counts.by_pair(counts.clicks)
    # In examinations, of which one at the most clicked position is worth `top` expected clicks.
    values, unshrunken = shrink(sums=clicks / top, evidence=expected / top, priors=priors, strength=strength)
    return ClickEstimates(values, unshrunken, priors, expected / top)


def estimate_by_position(
    counts: ClickCounts, gammas: FloatArray, *, strength: float = PRIOR_STRENGTH
) -> ClickEstimates:
    """Returns α of the position-based model, 0 to 1. gammas: of `estimate_examination`. Evidence: expected examinations."""
    rows = _Compared(counts, gammas)
    values, unshrunken = shrink(
        sums=rows.by_pair(rows.clicks), evidence=rows.evidence, priors=rows.priors, strength=strength, top=1.0
    )
    return ClickEstimates(values, unshrunken, rows.priors, rows.evidence)


def estimate_by_ips(
    counts: ClickCounts,
    gammas: FloatArray,
    *,
    strength: float = PRIOR_STRENGTH,
    max_weight: float = MAX_CLICK_WEIGHT,
) -> ClickEstimates:
    """Returns the mean of clicks with inverse propensity weights, at most 1. gammas: of `estimate_examination`. Evidence: the effective
    sample of examinations."""
    rows = _Compared(counts, gammas)
    with np.errstate(divide="ignore"):
        weights = np.minimum(1.0 / rows.gammas, max_weight)
    weighted = rows.by_pair(rows.shown * rows.gammas * weights)
    evidence = divide(weighted**2, rows.by_pair(rows.shown * rows.gammas * weights**2))
    means = divide(rows.by_pair(rows.clicks * weights), rows.by_pair(rows.shown))
    values, _ = shrink(sums=means * evidence, evidence=evidence, priors=rows.priors, strength=strength, top=1.0)
    clipped = rows.shown[rows.gammas * max_weight < 1.0].sum() / max(rows.shown.sum(), 1.0)
    return ClickEstimates(values, means, rows.priors, evidence, float(clipped))


def estimate_by_cascade(counts: ClickCounts, last: FloatArray, *, strength: float = PRIOR_STRENGTH) -> ClickEstimates:
    """Returns a · s, 0 to 1. counts: with as `shown` the searches in which users looked at the document, which are the evidence.
    last: [m] searches in which it was clicked last."""
    evidence = counts.by_pair(counts.shown)
    rates = divide(counts.by_position(last), counts.by_position(counts.shown))
    priors = divide(counts.by_pair(counts.shown * rates[counts.positions - 1]), evidence)
    values, unshrunken = shrink(sums=counts.by_pair(last), evidence=evidence, priors=priors, strength=strength)
    return ClickEstimates(values, unshrunken, priors, evidence)


class _Compared:
    """The rows at positions whose examination is known. gammas: [rows]. evidence, priors: [P]."""

    def __init__(self, counts: ClickCounts, gammas_by_position: FloatArray) -> None:
        gammas = gammas_by_position[counts.positions - 1]
        kept = np.isfinite(gammas)
        self._counts = counts
        self._pairs = counts.pairs[kept]
        self.gammas, self.shown, self.clicks = gammas[kept], counts.shown[kept], counts.clicks[kept]
        self.evidence = self.by_pair(self.shown * self.gammas)
        # What documents at these positions have on average: α of position r is ctr_r / γ_r.
        rates = counts.click_rates()[counts.positions - 1][kept]
        self.priors = np.minimum(divide(self.by_pair(self.shown * rates), self.evidence), 1.0)

    def by_pair(self, values: FloatArray) -> FloatArray:
        return np.bincount(self._pairs, weights=values, minlength=self._counts.size)
