"""Orders of rated documents, scored by a measure of the core: what a feature or a model is worth."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise

import numpy as np

from relevancy import scoring
from relevancy.models import ScorerVersion
from relevancy.scoring.arrays import BoolArray, FloatArray, IntArray
from relevancy.statistics import SEED

from .dataset import Dataset


class OrderScorer:
    """Scores orders of the rated documents of each query. Unrated ones are left out: nothing is known of them.

    Of equal values, a random order counts, the same for all orders: neither the order of ids nor that of ratings says anything.
    """

    def __init__(
        self, dataset: Dataset, measure: str, *, depth: int = 10, count_unscoreable_as_zero: bool = False
    ) -> None:
        """measure: in the notation of the core, such as `nDCG@10`. `heartbeat` is called before each score."""
        self.dataset = dataset
        self.heartbeat: Callable[[], object] = lambda: None
        self._measure = scoring.parse_measure(measure)
        self._depth, self._as_zero = depth, count_unscoreable_as_zero
        self._known = scoring.Batch.build([[]] * len(dataset.known), dataset.known, dataset.scale).known

    @classmethod
    def of_version(cls, dataset: Dataset, version: ScorerVersion, *, depth: int) -> OrderScorer:
        """Returns the scorer of a version, which must have a measure."""
        as_zero = version.count_unscoreable_as_zero
        return cls(dataset, version.measure, depth=depth, count_unscoreable_as_zero=as_zero)

    @cached_property
    def _places(self) -> IntArray:
        """[Q × most] positions of the rated documents of each query in random order; −1 beyond."""
        generator = np.random.Generator(np.random.PCG64(SEED))
        starts, is_rated = self.dataset.starts, self.dataset.is_rated
        rated = [np.flatnonzero(is_rated[first:last]) + first for first, last in pairwise(starts)]
        places = np.full((len(rated), max(map(len, rated), default=0)), -1, np.int64)
        for query, of_query in enumerate(rated):
            places[query, : len(of_query)] = generator.permutation(of_query)
        return places

    def points(self, values: FloatArray) -> FloatArray:
        """Returns [Q] the scores of the orders by `values`, [D], the highest first; NaN for queries that are not scoreable.

        NaN comes last: a document without a value.
        """
        self.heartbeat()
        if not self._places.size:
            return np.full(len(self._places), np.nan)
        exists = self._places >= 0
        keys = np.where(exists, -np.where(np.isnan(values), -np.finfo(np.float64).max, values)[self._places], np.inf)
        order = np.argsort(keys, axis=1, kind="stable")
        grades = np.where(exists, self.dataset.grades[self._places], np.nan)
        ranked = np.take_along_axis(grades, order, axis=1)
        returned = exists.sum(axis=1)
        batch = scoring.Batch(ranked, returned, np.zeros(ranked.shape, np.bool_), self._known, self.dataset.scale)
        found = scoring.score(self._measure, batch, self._depth, count_unscoreable_as_zero=self._as_zero, bounds=False)
        return np.where(returned > 0, found.score, np.nan)

    def used(self) -> BoolArray:
        """Returns [Q] which queries count: those that are scoreable and have a weight."""
        return np.isfinite(self.points(np.zeros(len(self.dataset.grades)))) & (self.dataset.weights > 0)

    def mean(self, points: FloatArray, queries: BoolArray) -> float:
        """Returns the weighted mean of the points of some queries; NaN for none."""
        if not queries.any():
            return float("nan")
        return float(np.average(points[queries], weights=self.dataset.weights[queries]))
