"""The differences of two runs, query by query, and their mean.

See docs/decisions/0124.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from relevancy.statistics.arrays import FloatArray, IntArray
from relevancy.statistics.errors import StatisticsError

# Points: a smaller difference of a query is a tie. What is 0.05 in decimals may be a little less in binary fractions.
TIE = 0.05 - 1e-9
CARRIED_SHARE = 0.8


def merge_units(values: FloatArray, weights: FloatArray, units: IntArray) -> tuple[FloatArray, FloatArray]:
    """Returns the weighted means of queries that are not independent of each other, and the sums of their weights.

    values: [n] or [n × runs]. weights: [n] above 0. units: [n] the number of the unit that each query belongs to: 0 to m − 1, each
    of which has a query. Returns [m] or [m × runs] means, and [m] weights.

    Variants of one query gain and lose together. A test that counted each of them would find differences that are not there, so
    that tests draw whole units (Cameron & Miller, "A practitioner's guide to cluster-robust inference", 2015). A unit of one query
    keeps its value exactly.
    """
    sums = np.bincount(units, weights)
    shares = weights / sums[units]
    if values.ndim == 1:
        return np.bincount(units, shares * values), sums
    columns = [np.bincount(units, shares * column) for column in values.T]
    return np.column_stack(columns), sums


@dataclass(frozen=True)
class Differences:
    """Differences `B − A` of the queries that were scored in both runs, or of units of queries; see `merged`.

    values: [n] points.
    weights: [n] above 0; 1 each unless the case has weights.
    """

    values: FloatArray
    weights: FloatArray

    @classmethod
    def build(
        cls, values: Sequence[float] | FloatArray, weights: Sequence[float] | FloatArray | None = None
    ) -> Differences:
        """Raises StatisticsError if a value is not finite, a weight is not above 0, or the lengths differ."""
        points = np.asarray(values, dtype=np.float64)
        shares = np.ones(len(points)) if weights is None else np.asarray(weights, dtype=np.float64)
        if points.ndim != 1 or points.shape != shares.shape:
            raise StatisticsError(f"{points.size} differences cannot have {shares.size} weights.")
        if not np.isfinite(points).all() or not np.isfinite(shares).all() or (shares <= 0).any():
            raise StatisticsError("Differences must be finite numbers, and weights finite numbers above 0.")
        return cls(points, shares)

    def merged(self, units: IntArray | None) -> Differences:
        """Returns one difference for each unit: the weighted mean of its differences, with the sum of their weights.

        units: see `merge_units`. The mean over all stays what it was, except for rounding of the last digit.
        """
        if units is None:
            return self
        values, weights = merge_units(self.values, self.weights, units)
        return Differences(values, weights)

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def shares(self) -> FloatArray:
        """[n] weights that sum to 1."""
        return np.asarray(self.weights / self.weights.sum(), dtype=np.float64)

    @cached_property
    def mean(self) -> float:
        """D = Σ w d / Σ w; NaN without queries."""
        return float(self.shares @ self.values) if self.values.size else math.nan

    @property
    def are_equal(self) -> bool:
        """Whether all differences are the same, apart from binary noise."""
        return self.values.size > 0 and float(np.ptp(self.values)) <= 1e-9

    @property
    def are_zero(self) -> bool:
        """Whether no query differs, apart from binary noise."""
        return self.values.size > 0 and float(np.abs(self.values).max()) <= 1e-9

    @property
    def deviation(self) -> float | None:
        """The sample standard deviation (n − 1) of the unweighted differences; None for fewer than two queries."""
        if len(self) < 2:
            return None
        return 0.0 if self.are_equal else float(self.values.std(ddof=1))

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean; None for fewer than two queries.

        With weights, that of a ratio: `√(n / (n − 1) · Σ (share · (d − D))²)`. With equal weights this is `sd / √n`.
        """
        n = len(self)
        if n < 2:
            return None
        if self.are_equal:
            return 0.0
        deviations = self.shares * (self.values - self.mean)
        return math.sqrt(n / (n - 1) * float(deviations @ deviations))

    @property
    def effect(self) -> float | None:
        """The effect size g = D / s, where `s² = Σ share · (d − D)² / (1 − Σ share²)`; None if the differences do not vary.

        With equal weights this is mean(d) / sd(d). With weights it has the sign of D, which the unweighted one need not have.
        """
        if self.values.size < 2 or self.are_equal:
            return None
        freedom = 1.0 - float(self.shares @ self.shares)
        variance = float(self.shares @ (self.values - self.mean) ** 2)
        return self.mean / math.sqrt(variance / freedom) if freedom > 0 and variance > 0 else None

    @property
    def wins(self) -> int:
        """How many queries are better in B by at least 0.05 points."""
        return int((self.values >= TIE).sum())

    @property
    def losses(self) -> int:
        """How many queries are worse in B by at least 0.05 points."""
        return int((self.values <= -TIE).sum())

    @property
    def ties(self) -> int:
        """How many queries differ by less than 0.05 points."""
        return self.values.size - self.wins - self.losses

    def mean_without(self, positions: Sequence[int]) -> float | None:
        """The mean of the other differences; None if there are none."""
        others = np.delete(np.arange(len(self)), positions)
        return Differences(self.values[others], self.weights[others]).mean if len(others) else None

    def list_carriers(self) -> list[int]:
        """Returns the positions of the queries that carry the difference, largest first.

        These are the fewest queries whose differences in the direction of the mean sum to at least 80 % of its total. Empty if
        the mean is 0.
        """
        contributions = self.values * self.weights
        total = float(contributions.sum())
        if abs(self.mean if len(self) else 0.0) <= 1e-9:
            return []
        directed = contributions * math.copysign(1.0, total)
        order = np.argsort(-directed, kind="stable")
        sums = np.cumsum(directed[order])
        count = int(np.searchsorted(sums[: int((directed > 0).sum())], CARRIED_SHARE * abs(total) - 1e-9)) + 1
        return [int(position) for position in order[:count]]
