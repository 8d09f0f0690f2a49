"""Agreement of all raters: per cent agreement, Fleiss' kappa, Krippendorff's alpha.

Sources: Fleiss, "Measuring nominal scale agreement among many raters", 1971; Krippendorff, "Content Analysis", 4th edition 2019,
chapter 12.

All of them are sums over items, so that a bootstrap over queries only adds the sums of the queries it drew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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


@dataclass(frozen=True)
class RaterTable:
    """Ratings by several raters, at most one per item and rater.

    queries, items, raters, grades: [N], of each rating: number of its query, of its item (query and document), of its rater, and
    position of its grade on the scale. All count from 0. Queries that are not independent of each other, such as linked ones, have
    one number: intervals draw these units.
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
        return [self._combine(weights) for weights in draw_units(len(self), resamples, seed)]

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


def draw_units(count: int, resamples: int, seed: int) -> Iterator[FloatArray]:
    """Yields [r × count] how often each unit was drawn in r resamples with replacement, until there are `resamples` in all."""
    generator = build_generator(seed)
    rows = max(1, CHUNK // max(1, count))
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        drawn = generator.integers(count, size=(size, count)) + np.arange(size)[:, None] * count
        yield np.bincount(drawn.ravel(), minlength=size * count).reshape(size, count).astype(np.float64)


@dataclass(frozen=True)
class Coefficient:
    """A coefficient with its 95 % interval by bootstrap over queries; None if it cannot be computed."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Agreement:
    """How far raters agree on the items that two or more of them rated.

    items, queries: number of these items, and of the queries (units) that they belong to.
    commonest: the per cent agreement that always giving the commonest grade would have with the others, 0 to 1.
    alpha: by level; its values are None below 30 items.
    """

    items: int
    queries: int
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
        return build_coefficient(compute(total), [compute(chunk) for chunk in chunks]) if items else missing

    return Agreement(
        items=items,
        queries=len(sums),
        agreement=estimate(lambda part: divide(part.agreeing, part.pairs)),
        commonest=None if shares is None else float(shares.max()),
        fleiss_kappa=estimate(fleiss_kappa),
        alpha={
            level: estimate(lambda part, level=level: krippendorff_alpha(part, table.scale, level))  # type: ignore[misc]
            if items >= MIN_ITEMS
            else missing
            for level in levels
        },
    )


def build_coefficient(values: FloatArray, resampled: Sequence[FloatArray]) -> Coefficient:
    """Returns a coefficient. values: [1] its value, NaN if there is none. resampled: its values in the resamples, in parts."""
    value = float(values[0])
    drawn = np.concatenate(resampled) if resampled else np.empty(0)
    drawn = drawn[np.isfinite(drawn)]  # a resample in which all ratings are equal has no coefficient
    low, high = np.quantile(drawn, [0.025, 0.975]) if len(drawn) else (None, None)
    return Coefficient(
        None if np.isnan(value) else value, None if low is None else float(low), None if high is None else float(high)
    )


def fleiss_kappa(sums: AgreementSums) -> FloatArray:
    """Returns [R] Fleiss' kappa of each row of sums; NaN if all ratings are the same grade.

    Items may have different numbers of ratings: the mean agreement is that of the items, the expected one that of all ratings.
    """
    observed = divide(sums.item_agreement, sums.items)
    shares = divide(sums.grades, sums.grades.sum(axis=1, keepdims=True))
    expected = (shares**2).sum(axis=1)
    return divide(observed - expected, 1.0 - expected)


def krippendorff_alpha(sums: AgreementSums, scale: FloatArray, level: Level) -> FloatArray:
    """Returns [R] Krippendorff's alpha of each row of sums; NaN if all ratings are the same grade."""
    margins = sums.coincidences.sum(axis=2)  # [R × G]
    total = margins.sum(axis=1)
    distances = _squared_distances(margins, scale, level)
    observed = (sums.coincidences * distances).sum(axis=(1, 2))
    expected = (margins[:, :, None] * margins[:, None, :] * distances).sum(axis=(1, 2))
    return 1.0 - divide((total - 1.0) * observed, expected)


def _squared_distances(margins: FloatArray, scale: FloatArray, level: Level) -> FloatArray:
    """Returns [R or 1 × G × G] squared differences of grades."""
    if level == "nominal":
        return 1.0 - np.eye(len(scale))[None]
    if level == "interval":
        return ((scale[:, None] - scale[None, :]) ** 2)[None]
    # Ordinal: the number of ratings between two grades, their own counted half.
    centres = np.cumsum(margins, axis=1) - margins / 2
    return (centres[:, :, None] - centres[:, None, :]) ** 2


def divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Returns the quotient; NaN where the denominator is 0, apart from binary noise."""
    result = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    return np.asarray(
        np.divide(numerator, denominator, out=result, where=np.abs(denominator) > 1e-12), dtype=np.float64
    )
