"""Randomisation tests: how often chance alone makes a difference at least as large.

Source: Smucker, Allan & Carterette, "A comparison of statistical significance tests for information retrieval evaluation",
CIKM 2007. Wilcoxon's test is left out on purpose: it does not test the mean.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from relevancy.statistics.arrays import FloatArray, IntArray
from relevancy.statistics.differences import Differences
from relevancy.statistics.errors import StatisticsError
from relevancy.statistics.generators import SEED, build_generator

PERMUTATIONS = 10_000
MAX_RESAMPLED = 20_000  # queries; of more, the figures are those of the limit, within 0.05 points
MIN_EFFECTIVE = 2_000  # queries of equal weight that tell as much as those whose figures are taken from the limit
MAX_EXACT_QUERIES = 14  # 2 ** 14 sign patterns
MAX_EXACT_ARRANGEMENTS = 50_000
TOLERANCE = 1e-9  # points: differences this close are the same
BITS = 8  # queries that one random byte gives their signs
CHUNK = 1_000_000  # table entries that are read at a time
BLOCK, CHUNK_OF_BLOCK = 256, 200_000  # queries whose arrangements are chosen together, and choices made at a time


@dataclass(frozen=True)
class SignFlips:
    """What the mean difference becomes if the signs of the differences are flipped, for each pattern of signs.

    mean: D, the mean difference itself.
    sums: [patterns] `Σ ± share · d`, in points. shares: [patterns] `Σ ± share`; exactly 1 or −1 if all signs are the same.
    is_exact: whether these are all patterns instead of random ones.
    """

    mean: float
    sums: FloatArray
    shares: FloatArray
    is_exact: bool

    @property
    def p(self) -> float:
        """The p of the paired randomisation test of signs, with the statistic |D|.

        Of all patterns, the share with `|D*| ≥ |D| − 1e-9`; of random ones, `(1 + hits) / (1 + patterns)`.
        """
        hits = int((np.abs(self.sums) >= abs(self.mean) - TOLERANCE).sum())
        return hits / len(self.sums) if self.is_exact else (1 + hits) / (1 + len(self.sums))

    def find_ends(self, alpha: float) -> tuple[float, float]:
        """Returns the smallest and the largest difference that the test does not reject at the level alpha.

        Without a true difference, D lies outside the means of both sides of a pattern, the queries with + and those with −, as often
        as inside. So the end is the k-th most extreme of these means, where p of the k-th hit is the first one from alpha on. Infinite
        if all patterns together cannot reject. Source: Hartigan, "Using subsample values as typical values", JASA 64, 1969.
        """
        count = len(self.sums)
        k = math.ceil(alpha * count) if self.is_exact else math.ceil(alpha * (count + 1)) - 1
        if k < 1:
            return -math.inf, math.inf
        lower, upper = np.full(count, -math.inf), np.full(count, math.inf)
        has_both = np.abs(self.shares) < 1.0
        plus = (self.mean + self.sums[has_both]) / (1.0 + self.shares[has_both])
        minus = (self.mean - self.sums[has_both]) / (1.0 - self.shares[has_both])
        lower[has_both], upper[has_both] = np.minimum(plus, minus), np.maximum(plus, minus)
        return float(np.partition(lower, k - 1)[k - 1]), float(np.partition(upper, count - k)[count - k])


@dataclass(frozen=True)
class SignFlipLimit:
    """What `SignFlips` becomes with very many differences: `Σ ± share · d` with random signs is then normal around 0, with the variance
    `Σ (share · d)²`.

    mean: D. squares: `Σ share²`, `Σ share² · d` and `Σ share² · d²`.
    """

    mean: float
    squares: tuple[float, float, float]

    @property
    def p(self) -> float:
        """The p of the paired randomisation test of signs, with the statistic |D|."""
        if abs(self.mean) <= TOLERANCE:
            return 1.0
        return 2.0 * float(ndtr(-abs(self.mean) / math.sqrt(self.squares[2])))

    def find_ends(self, alpha: float) -> tuple[float, float]:
        """Returns the smallest and the largest difference that the test does not reject at the level alpha: the δ at which the
        differences `d − δ` have the p alpha, `(D − δ)² = z² · Σ share² · (d − δ)²`."""
        ones, linear, quadratic = (float(ndtri(1.0 - alpha / 2.0)) ** 2 * square for square in self.squares)
        middle, spread = self.mean - linear, 1.0 - ones
        root = math.sqrt(max(0.0, middle**2 - spread * (self.mean**2 - quadratic)))
        return (middle - root) / spread, (middle + root) / spread


def smallest_p(queries: int) -> float:
    """Returns the smallest p that the test of so many queries can have: all of them differ in one direction."""
    return min(1.0, 2.0 ** (1 - queries)) if queries <= MAX_EXACT_QUERIES else 1.0 / (1 + PERMUTATIONS)


def flip_signs(
    differences: Differences, *, permutations: int = PERMUTATIONS, seed: int = SEED
) -> SignFlips | SignFlipLimit | None:
    """Flips the signs of the differences: in all 2ⁿ patterns up to 14 queries, in their limit above 20,000 of which none carries most
    of the weight, otherwise at random; None for fewer than two queries."""
    n = len(differences)
    if n < 2:
        return None
    shares = differences.shares
    if _have_limit(shares):
        squares, values = shares**2, differences.values
        return SignFlipLimit(
            differences.mean, (float(squares.sum()), float(squares @ values), float(squares @ values**2))
        )
    columns = [shares * differences.values, shares]
    if n <= MAX_EXACT_QUERIES:
        signs = 1.0 - 2.0 * (np.arange(2**n)[:, None] >> np.arange(n) & 1)
        sums, flipped = (signs @ column for column in columns)
    else:
        sums, flipped = _sum_with_random_signs(columns, permutations, build_generator(seed))
    is_one_sided = 1.0 - np.abs(flipped) < shares.min()  # a query on the other side takes twice its share away
    flipped = np.where(is_one_sided, np.sign(flipped), flipped)
    return SignFlips(differences.mean, sums, flipped, is_exact=n <= MAX_EXACT_QUERIES)


def _have_limit(shares: FloatArray) -> bool:
    """Returns whether so many queries carry the weight that the figures of resampling are those of their limit."""
    return len(shares) > MAX_RESAMPLED and MIN_EFFECTIVE * float(shares @ shares) <= 1.0


def _sum_with_random_signs(
    columns: Sequence[FloatArray], permutations: int, generator: np.random.Generator
) -> list[FloatArray]:
    """Returns [permutations] sums of each column, whose rows have random signs, the same in all columns.

    One random byte gives eight rows their signs: their sum is read from a table of the 256 sums of these eight values.
    """
    groups = -(-len(columns[0]) // BITS)
    signs = 1.0 - 2.0 * (np.arange(2**BITS)[:, None] >> np.arange(BITS) & 1)
    padded = np.zeros((len(columns), groups * BITS))
    padded[:, : len(columns[0])] = columns
    tables = [(column.reshape(groups, BITS) @ signs.T).ravel() for column in padded]  # [groups · 256] each
    offsets = np.arange(groups, dtype=np.int64) * 2**BITS
    rows = max(1, CHUNK // groups)
    sums = [np.empty(permutations) for _ in columns]
    for start in range(0, permutations, rows):
        stop = min(start + rows, permutations)
        patterns = np.frombuffer(generator.bytes((stop - start) * groups), dtype=np.uint8).reshape(-1, groups)
        positions = patterns + offsets
        for column, table in zip(sums, tables, strict=True):
            column[start:stop] = table.take(positions).sum(axis=1)
    return sums


@dataclass(frozen=True)
class RunMeans:
    """Several runs that were scored on the same queries.

    means: [runs] weighted means of the scores, in points.
    p: [runs × runs] p of each pair by the randomised Tukey HSD; 1 on the diagonal.
    is_exact: whether all arrangements were counted instead of random ones.
    """

    means: FloatArray
    p: FloatArray
    is_exact: bool


def compare_means(
    scores: FloatArray, weights: FloatArray | None = None, *, permutations: int = PERMUTATIONS, seed: int = SEED
) -> RunMeans:
    """Compares all pairs of runs by the randomised Tukey HSD, which corrects for the number of pairs.

    scores: [queries × runs], without missing scores. The scores of the runs change places at random within each query; p of a
    pair is the share of arrangements whose largest minus smallest mean is at least the pair's difference. All arrangements
    count where there are at most 50,000; otherwise `p = (1 + hits) / (1 + permutations)`, and above 20,000 queries that of the limit.
    Source: Carterette, "Multiple testing in statistical analysis of systems-based information retrieval experiments", TOIS 2012.

    Raises StatisticsError if there are no queries, fewer than two runs, or missing scores.
    """
    if scores.ndim != 2 or not len(scores) or scores.shape[1] < 2 or not np.isfinite(scores).all():
        raise StatisticsError("At least two runs with a score for every query are needed.")
    queries, runs = scores.shape
    shares = np.full(queries, 1.0 / queries) if weights is None else weights / weights.sum()
    contributions = scores * shares[:, None]
    if _have_limit(shares):
        return _limit_of_means(contributions)
    arrangements = np.array(list(itertools.permutations(range(runs))))
    count = math.factorial(runs) ** queries
    is_exact = count <= MAX_EXACT_ARRANGEMENTS
    tables = contributions[:, arrangements]  # [queries × arrangements × runs]
    if is_exact:
        choices: IntArray = np.indices((len(arrangements),) * queries).reshape(queries, -1).T
        means_of_arrangements = tables[np.arange(queries), choices].sum(axis=1)  # [arrangements × runs]
        ranges = np.asarray(np.ptp(means_of_arrangements, axis=1), dtype=np.float64)
    else:
        ranges = _random_mean_ranges(tables, permutations, build_generator(seed))
    means = contributions.sum(axis=0)
    differences = np.abs(means[:, None] - means[None, :])
    hits = (ranges[:, None, None] >= differences - TOLERANCE).sum(axis=0)
    p = hits / len(ranges) if is_exact else (1 + hits) / (1 + permutations)
    return RunMeans(means, p, is_exact)


def _limit_of_means(contributions: FloatArray) -> RunMeans:
    """Returns the comparison of very many queries: the means of random arrangements are then normal, all with the same variance and the
    same covariance, so that their range divided by a standard deviation has the distribution of Tukey's studentized range."""
    runs = contributions.shape[1]
    means = contributions.sum(axis=0)
    differences = np.abs(means[:, None] - means[None, :])
    deviation = math.sqrt(float(contributions.var(axis=1, ddof=1).sum()))
    if deviation <= TOLERANCE:
        return RunMeans(means, np.ones((runs, runs)), is_exact=False)
    p = np.array([[_range_p(difference / deviation, runs) for difference in row] for row in differences])
    return RunMeans(means, p, is_exact=False)


def _range_p(width: float, count: int) -> float:
    """Returns the probability that `count` independent standard normal numbers range over more than `width`: 1 minus
    `count · ∫ φ(z) · (Φ(z) − Φ(z − width))^(count − 1) dz`. Example: 3.3145 for three numbers → .05."""
    z = np.linspace(-9.0, 9.0 + width, 4_001)
    density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    covered = count * float(np.trapezoid(density * (ndtr(z) - ndtr(z - width)) ** (count - 1), z))
    return min(1.0, max(0.0, 1.0 - covered))


def _random_mean_ranges(tables: FloatArray, permutations: int, generator: np.random.Generator) -> FloatArray:
    """Returns [permutations] the largest minus the smallest mean of random arrangements.

    A block of queries at a time: its table of arrangements stays in the cache of the processor. The mean of the last run follows from
    the others, because an arrangement does not change the sum of all runs.
    """
    queries, arrangements, runs = tables.shape
    means = np.zeros((permutations, runs))
    for first in range(0, queries, BLOCK):
        block = tables[first : first + BLOCK]
        columns = [block[:, :, run].ravel() for run in range(runs - 1)]
        offsets = np.arange(len(block)) * arrangements
        rows = max(1, CHUNK_OF_BLOCK // len(block))
        for start in range(0, permutations, rows):
            stop = min(start + rows, permutations)
            positions = generator.integers(arrangements, size=(stop - start, len(block))) + offsets
            for run, column in enumerate(columns):
                means[start:stop, run] += column.take(positions).sum(axis=1)
    means[:, -1] = tables[:, 0].sum() - means[:, :-1].sum(axis=1)
    return np.asarray(np.ptp(means, axis=1), dtype=np.float64)
