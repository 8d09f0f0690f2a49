"""Agreement of raters: per cent agreement, Cohen's and Fleiss' kappa, Krippendorff's alpha.

Sources: Cohen, "A coefficient of agreement for nominal scales", 1960, and "Weighted kappa", 1968; Fleiss, "Measuring nominal scale
agreement among many raters", 1971; Krippendorff, "Content Analysis", 4th edition 2019, chapter 12.

All of them are sums over items, so that a bootstrap over queries only adds the sums of the queries it drew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from relevancy.statistics.arrays import FloatArray, IntArray
from relevancy.statistics.errors import StatisticsError
from relevancy.statistics.generators import SEED, build_generator

RESAMPLES = 2000
MIN_ITEMS = 30  # with two ratings or more: below that, alpha is not shown
CHUNK = 4_000_000  # counts of drawn queries at a time

Level = Literal["nominal", "ordinal", "interval"]
KappaWeights = Literal["none", "linear", "quadratic"]


@dataclass(frozen=True)
class RaterTable:
    """Ratings by several raters, at most one per item and rater.

    queries, items, raters, grades: [N], of each rating: number of its query, of its item (query and document), of its rater, and
    position of its grade on the scale. All count from 0.
    scale: [G] values of the grades, ascending.
    """

    queries: IntArray
    items: IntArray
    raters: IntArray
    grades: IntArray
    scale: FloatArray

    @classmethod
    def build(cls, ratings: Sequence[tuple[int, int, int, float]], scale: Sequence[float] = ()) -> RaterTable:
        """Takes `(query, item, rater, grade)` with any ids. Grades that are not on the scale are added to it."""
        columns = np.array(ratings, dtype=np.float64).reshape(-1, 4)
        if not np.isfinite(columns).all():
            raise StatisticsError("Grades must be finite numbers.")
        values = np.union1d(columns[:, 3], np.asarray(scale, dtype=np.float64))
        queries, items, raters = (np.unique(columns[:, index], return_inverse=True)[1] for index in range(3))
        pairs = items.astype(np.int64) * (int(raters.max(initial=0)) + 1) + raters
        if len(np.unique(pairs)) < len(pairs):
            raise StatisticsError("A rater has rated an item twice.")
        return cls(queries, items, raters, np.searchsorted(values, columns[:, 3]), values)

    @cached_property
    def counts(self) -> FloatArray:
        """[items × G] number of ratings of each grade."""
        shape = (int(self.items.max(initial=-1)) + 1, len(self.scale))
        flat = np.bincount(self.items * shape[1] + self.grades, minlength=shape[0] * shape[1])
        return flat.reshape(shape).astype(np.float64)

    @cached_property
    def query_of_item(self) -> IntArray:
        """[items] number of the query."""
        queries = np.zeros(len(self.counts), dtype=np.int64)
        queries[self.items] = self.queries
        return queries


@dataclass(frozen=True)
class AgreementSums:
    """What all coefficients are computed from, by query. Only items with two ratings or more count.

    coincidences: [Q × G × G] of Krippendorff. agreeing, pairs: [Q] pairs of ratings of one item.
    item_agreement, items: [Q] sum of the share of agreeing pairs of each item, number of items.
    grades: [Q × G] number of ratings.
    """

    coincidences: FloatArray
    agreeing: FloatArray
    pairs: FloatArray
    item_agreement: FloatArray
    items: FloatArray
    grades: FloatArray

    @classmethod
    def build(cls, table: RaterTable) -> AgreementSums:
        ratings = table.counts.sum(axis=1)
        is_shared = ratings >= 2
        counts, ratings = table.counts[is_shared], ratings[is_shared]
        queries = table.query_of_item[is_shared]
        order = np.argsort(queries, kind="stable")
        counts, ratings, queries = counts[order], ratings[order], queries[order]
        _, starts = np.unique(queries, return_index=True)
        agreeing = (counts * (counts - 1)).sum(axis=1)
        pairs = ratings * (ratings - 1)
        outer = counts[:, :, None] * counts[:, None, :]
        positions = np.arange(counts.shape[1])
        outer[:, positions, positions] -= counts
        outer /= (ratings - 1)[:, None, None]

        def add(values: FloatArray) -> FloatArray:
            return np.add.reduceat(values, starts, axis=0) if len(values) else values

        return cls(
            add(outer), add(agreeing), add(pairs), add(agreeing / pairs), add(np.ones(len(ratings))), add(counts)
        )

    def __len__(self) -> int:
        return len(self.items)

    def resample(self, resamples: int, seed: int) -> list[AgreementSums]:
        """Returns the sums of queries drawn with replacement, in chunks: each query of a chunk is a resample."""
        generator, count = build_generator(seed), len(self)
        rows = max(1, CHUNK // max(1, count))
        chunks = []
        for start in range(0, resamples, rows):
            size = min(rows, resamples - start)
            drawn = generator.integers(count, size=(size, count)) + np.arange(size)[:, None] * count
            weights = np.bincount(drawn.ravel(), minlength=size * count).reshape(size, count).astype(np.float64)
            chunks.append(self._combine(weights))
        return chunks

    def total(self) -> AgreementSums:
        """Returns the sums over all queries, as the only query."""
        return self._combine(np.ones((1, len(self))))

    def _combine(self, weights: FloatArray) -> AgreementSums:
        """Returns weighted sums. weights: [R × Q]."""
        size = self.coincidences.shape[1]
        coincidences = (weights @ self.coincidences.reshape(len(self), size * size)).reshape(len(weights), size, size)
        return AgreementSums(
            coincidences,
            *(weights @ column for column in (self.agreeing, self.pairs, self.item_agreement, self.items, self.grades)),
        )


@dataclass(frozen=True)
class Coefficient:
    """A coefficient with its 95 % interval by bootstrap over queries; None if it cannot be computed."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Agreement:
    """How far raters agree on the items that two or more of them rated.

    items: number of these items.
    commonest: the per cent agreement that always giving the commonest grade would have with the others, 0 to 1.
    alpha: by level; its values are None below 30 items.
    """

    items: int
    agreement: Coefficient
    commonest: float | None
    fleiss_kappa: Coefficient
    alpha: Mapping[Level, Coefficient]


def measure_agreement(table: RaterTable, *, resamples: int = RESAMPLES, seed: int = SEED) -> Agreement:
    """Computes all coefficients of a table of ratings, with their intervals."""
    sums = AgreementSums.build(table)
    items = int(sums.items.sum())
    total = sums.total()
    chunks = sums.resample(resamples, seed) if len(sums) > 1 else []
    shares = total.grades[0] / total.grades.sum() if items else None
    missing = Coefficient(None, None, None)
    levels: tuple[Level, ...] = ("nominal", "ordinal", "interval")

    def estimate(compute: Callable[[AgreementSums], FloatArray]) -> Coefficient:
        return _estimate(compute, total, chunks) if items else missing

    return Agreement(
        items=items,
        agreement=estimate(lambda part: _divide(part.agreeing, part.pairs)),
        commonest=None if shares is None else float(shares.max()),
        fleiss_kappa=estimate(fleiss_kappa),
        alpha={
            level: estimate(lambda part, level=level: krippendorff_alpha(part, table.scale, level))  # type: ignore[misc]
            if items >= MIN_ITEMS
            else missing
            for level in levels
        },
    )


def _estimate(
    compute: Callable[[AgreementSums], FloatArray], total: AgreementSums, chunks: Sequence[AgreementSums]
) -> Coefficient:
    value = float(compute(total)[0])
    drawn = np.concatenate([compute(chunk) for chunk in chunks]) if chunks else np.empty(0)
    drawn = drawn[np.isfinite(drawn)]  # a resample in which all ratings are equal has no coefficient
    low, high = np.quantile(drawn, [0.025, 0.975]) if len(drawn) else (None, None)
    return Coefficient(
        None if np.isnan(value) else value, None if low is None else float(low), None if high is None else float(high)
    )


def fleiss_kappa(sums: AgreementSums) -> FloatArray:
    """Returns [R] Fleiss' kappa of each row of sums; NaN if all ratings are the same grade.

    Items may have different numbers of ratings: the mean agreement is that of the items, the expected one that of all ratings.
    """
    observed = _divide(sums.item_agreement, sums.items)
    shares = _divide(sums.grades, sums.grades.sum(axis=1, keepdims=True))
    expected = (shares**2).sum(axis=1)
    return _divide(observed - expected, 1.0 - expected)


def krippendorff_alpha(sums: AgreementSums, scale: FloatArray, level: Level) -> FloatArray:
    """Returns [R] Krippendorff's alpha of each row of sums; NaN if all ratings are the same grade."""
    margins = sums.coincidences.sum(axis=2)  # [R × G]
    total = margins.sum(axis=1)
    distances = _squared_distances(margins, scale, level)
    observed = (sums.coincidences * distances).sum(axis=(1, 2))
    expected = (margins[:, :, None] * margins[:, None, :] * distances).sum(axis=(1, 2))
    return 1.0 - _divide((total - 1.0) * observed, expected)


def _squared_distances(margins: FloatArray, scale: FloatArray, level: Level) -> FloatArray:
    """Returns [R or 1 × G × G] squared differences of grades."""
    if level == "nominal":
        return 1.0 - np.eye(len(scale))[None]
    if level == "interval":
        return ((scale[:, None] - scale[None, :]) ** 2)[None]
    # Ordinal: the number of ratings between two grades, their own counted half.
    centres = np.cumsum(margins, axis=1) - margins / 2
    return (centres[:, :, None] - centres[:, None, :]) ** 2


def _divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Returns the quotient; NaN where the denominator is 0, apart from binary noise."""
    result = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    return np.asarray(
        np.divide(numerator, denominator, out=result, where=np.abs(denominator) > 1e-12), dtype=np.float64
    )


@dataclass(frozen=True)
class PairAgreement:
    """Two raters on the items that both rated.

    a, b: numbers of the raters. confusion: [G × G] number of items, grades of `a` in rows.
    """

    a: int
    b: int
    confusion: FloatArray

    @property
    def items(self) -> int:
        return int(self.confusion.sum())

    def kappa(self, weights: KappaWeights = "none") -> float | None:
        """Returns Cohen's kappa, weighted by the distance of grades on the scale; None if chance alone agrees completely."""
        size = len(self.confusion)
        distance = np.abs(np.arange(size)[:, None] - np.arange(size)[None, :]).astype(np.float64)
        penalties = {"none": (distance > 0).astype(np.float64), "linear": distance, "quadratic": distance**2}[weights]
        total = self.confusion.sum()
        expected = np.outer(self.confusion.sum(axis=1), self.confusion.sum(axis=0)) / total if total else distance * 0
        chance = float((penalties * expected).sum())
        return 1.0 - float((penalties * self.confusion).sum()) / chance if chance > 1e-12 else None


def compare_raters(table: RaterTable) -> list[PairAgreement]:
    """Returns every pair of raters that rated an item in common, in the order of their numbers."""
    order = np.lexsort((table.raters, table.items))
    items, raters, grades = table.items[order], table.raters[order], table.grades[order]
    size = len(table.scale)
    confusions: dict[tuple[int, int], FloatArray] = {}
    for step in range(1, int(table.counts.sum(axis=1).max(initial=0))):
        is_pair = items[step:] == items[:-step]
        firsts, seconds = raters[:-step][is_pair], raters[step:][is_pair]
        cells = grades[:-step][is_pair] * size + grades[step:][is_pair]
        for a, b in np.unique(np.stack([firsts, seconds], axis=1), axis=0).tolist():
            own = cells[(firsts == a) & (seconds == b)]
            confusion = confusions.setdefault((a, b), np.zeros((size, size)))
            confusion += np.bincount(own, minlength=size * size).reshape(size, size)
    return [PairAgreement(a, b, confusion) for (a, b), confusion in sorted(confusions.items())]
