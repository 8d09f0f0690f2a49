"""Samples of the queries of a search log, with weights by which the mean of the sampled scores estimates that of all searches.

The figure to estimate is the mean over all searches, `μ = Σ c_i s_i / Σ c_i`, where query i was searched `c_i` times and scores `s_i`.
Query i is drawn with the probability `π_i`, without replacement. The score of a case is `Σ w_i s_i / Σ w_i` over the sampled queries,
so the weights are `w_i = c_i / π_i`: the traffic `c_i`, times the design weight `1 / π_i` of Horvitz and Thompson.

- By frequency, `π_i = n c_i / Σ c`: traffic and design weight cancel, and all weights are equal. Weighting such a sample by `c_i` would
  count frequent queries twice.
- Queries so frequent that `n c_i / Σ c ≥ 1` are always drawn (`π_i = 1`) and have the weight `c_i`; the rest shares what is left of n.
- By strata, the same within head, torso and tail.
- Uniformly, `π_i = n / N` and the weights are proportional to `c_i`.

By frequency and by strata, the sum of the weights is the same for each sample, `Σ c`, so that the weighted mean is the estimator of
Horvitz and Thompson and has no bias. Uniformly, the sum varies, and the weighted mean is a ratio estimator: its bias is about
`(1 − n/N) (μ S_cc − S_cy) / (n c̄²)` with `y_i = c_i s_i` and the covariances S over all queries. It falls with `1/n` (Cochran,
"Sampling Techniques", 1977, section 6.8).

Sources: Horvitz & Thompson, "A generalization of sampling without replacement from a finite universe", 1952. Systematic sampling with
probability proportional to size, of a list in random order: Madow 1949; Hartley & Rao, "Sampling with unequal probabilities and without
replacement", 1962. Effective size: Kish, "Survey Sampling", 1965.

See docs/decisions/0147.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from relevancy.statistics.arrays import FloatArray, IntArray
from relevancy.statistics.errors import StatisticsError
from relevancy.statistics.generators import SEED, build_generator

HEAD_SHARE, TORSO_SHARE = 0.5, 0.3  # of all searches; the tail has the rest
WEIGHT_DIGITS = 9  # significant ones, so that a weight can be read; an error of 1e-9 moves no score that is shown


class SamplingMethod(StrEnum):
    """How queries are drawn."""

    FREQUENCY = "frequency"
    STRATA = "strata"
    UNIFORM = "uniform"


@dataclass(frozen=True)
class Stratum:
    """A part of the queries that is sampled on its own. queries, searches: of all in it; sampled: queries that were drawn."""

    name: str
    queries: int
    searches: int
    sampled: int


@dataclass(frozen=True)
class QuerySample:
    """Queries that were drawn without replacement.

    indices: [n] of the sampled queries, ascending. weights: [n] of their scores in the mean, with the sum n.
    inclusion: [n] the probability with which each was drawn. strata: one, unless the method is by strata.
    """

    indices: IntArray
    weights: FloatArray
    inclusion: FloatArray
    strata: tuple[Stratum, ...]

    @property
    def effective_size(self) -> float:
        """`(Σw)² / Σw²`: how many equally weighted queries would be as precise, if scores have nothing to do with the weights."""
        return float(self.weights.sum() ** 2 / (self.weights**2).sum()) if len(self.weights) else 0.0

    @property
    def certain(self) -> int:
        """The number of sampled queries that every such sample has."""
        return int((self.inclusion == 1.0).sum())


def draw_sample(counts: IntArray, *, size: int, method: SamplingMethod, seed: int = SEED) -> QuerySample:
    """Draws queries of a log without replacement. counts: [N] how often each was searched, at least once.

    size: n; all queries are drawn if there are no more. The same counts and seed give the same sample.
    Raises `StatisticsError` for a size or a count below 1.
    """
    counts = np.asarray(counts, dtype=np.int64)
    if size < 1:
        raise StatisticsError(f"A sample of {size} queries is empty. Draw at least one.")
    if len(counts) and counts.min() < 1:
        raise StatisticsError("Every query must have been searched at least once.")
    generator = build_generator(seed)
    drawn: list[IntArray] = []
    weights: list[FloatArray] = []
    inclusion: list[FloatArray] = []
    strata: list[Stratum] = []
    for name, members, stratum_size in _strata(counts, size, method):
        searches = counts[members]
        if method == SamplingMethod.UNIFORM:
            chosen = np.sort(generator.permutation(len(members))[:stratum_size])
            probabilities = np.full(len(chosen), len(chosen) / len(members))
            chosen_weights = searches[chosen].astype(np.float64)
        else:
            all_probabilities, shared = inclusion_probabilities(searches, stratum_size)
            chosen = _draw_systematically(all_probabilities, stratum_size, generator)
            probabilities = all_probabilities[chosen]
            chosen_weights = np.where(probabilities == 1.0, searches[chosen].astype(np.float64), shared)
        drawn.append(members[chosen])
        weights.append(chosen_weights)
        inclusion.append(probabilities)
        strata.append(Stratum(name, len(members), int(searches.sum()), len(chosen)))
    return _sample(drawn, weights, inclusion, strata)


def inclusion_probabilities(counts: IntArray, size: int) -> tuple[FloatArray, float]:
    """Returns `(π, weight)` of a sample with probability proportional to size: [N] with the sum `size`, and `c_i / π_i` of those
    with a probability below 1, which is the same for all of them.

    size: at most N. Queries whose probability would exceed 1 get 1, and the others share the rest; repeated until none exceeds it.
    """
    counts = np.asarray(counts, dtype=np.int64)
    certain = np.zeros(len(counts), dtype=bool)
    while True:
        left, searches = size - int(certain.sum()), int(counts[~certain].sum())
        if left <= 0 or searches == 0:
            break
        # In whole numbers: left · c ≥ Σc, without the rounding of a quotient.
        exceeding = ~certain & (counts * left >= searches)
        if not exceeding.any():
            break
        certain |= exceeding
    left, searches = size - int(certain.sum()), int(counts[~certain].sum())
    shared = searches / left if left > 0 else 0.0
    probabilities = np.where(certain, 1.0, counts / shared if shared else 0.0)
    return probabilities, shared


def _draw_systematically(probabilities: FloatArray, size: int, generator: np.random.Generator) -> IntArray:
    """Returns [n] ascending indices: certain ones, and of the others, in random order, those at equal steps from a random start."""
    certain = np.flatnonzero(probabilities == 1.0)
    others = np.flatnonzero(probabilities < 1.0)
    left = size - len(certain)
    if left <= 0 or not len(others):
        return certain
    others = generator.permutation(others)
    ends = np.cumsum(probabilities[others])
    ends *= left / ends[-1]
    steps = generator.random() + np.arange(left)
    positions = np.minimum(np.searchsorted(ends, steps, side="right"), len(others) - 1)
    return np.sort(np.concatenate([certain, others[positions]]))


def _strata(counts: IntArray, size: int, method: SamplingMethod) -> Iterator[tuple[str, IntArray, int]]:
    """Yields `(name, indices, size)` of each part that is sampled on its own."""
    if method != SamplingMethod.STRATA:
        if len(counts):
            yield "all", np.arange(len(counts)), min(size, len(counts))
        return
    order = np.argsort(-counts, kind="stable")
    # Of the searches of more frequent queries: the most frequent query is always in the head.
    before = (np.cumsum(counts[order]) - counts[order]) / max(int(counts.sum()), 1)
    ends = np.searchsorted(before, [HEAD_SHARE, HEAD_SHARE + TORSO_SHARE], side="left")
    parts = [np.sort(part) for part in np.split(order, ends)]
    for name, members, share in zip(("head", "torso", "tail"), parts, _allocate([*map(len, parts)], size), strict=True):
        if share:
            yield name, members, share


def _allocate(available: list[int], size: int) -> list[int]:
    """Returns as equal sizes as there are queries for, the earlier ones larger by one if they cannot be equal."""
    sizes = [0] * len(available)
    left = min(size, sum(available))
    while left:
        for number, count in enumerate(available):
            if left and sizes[number] < count:
                sizes[number] += 1
                left -= 1
    return sizes


def _sample(
    drawn: list[IntArray], weights: list[FloatArray], inclusion: list[FloatArray], strata: list[Stratum]
) -> QuerySample:
    if not drawn:
        return QuerySample(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0), ())
    indices = np.concatenate(drawn)
    order = np.argsort(indices)
    all_weights = np.concatenate(weights)
    all_weights = all_weights * (len(all_weights) / all_weights.sum())
    rounded = np.array([float(f"{weight:.{WEIGHT_DIGITS}g}") for weight in all_weights])
    return QuerySample(indices[order], rounded[order], np.concatenate(inclusion)[order], tuple(strata))
