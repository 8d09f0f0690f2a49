"""What was shown and clicked, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from relevancy.statistics.arrays import FloatArray, IntArray
from relevancy.statistics.errors import StatisticsError


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
        """Raises `StatisticsError` for arrays of different lengths, invalid positions, and more clicks than searches."""
        rows = [np.asarray(values, dtype=np.int64) for values in (pairs, positions)]
        counts = [np.asarray(values, dtype=np.float64) for values in (shown, clicks)]
        if len({len(values) for values in (*rows, *counts)}) > 1:
            raise StatisticsError("Give a pair, a position, and the searches and clicks of each row.")
        if len(rows[0]) and (rows[0].min() < 0 or rows[1].min() < 1):
            raise StatisticsError("Pairs are numbered from 0, positions from 1.")
        if not (np.isfinite(counts[0]).all() and (counts[1] >= 0).all() and (counts[1] <= counts[0]).all()):
            raise StatisticsError("A document cannot be clicked in more searches than it was shown in.")
        size, depth = (int(values.max(initial=least)) for values, least in zip(rows, (-1, 0), strict=True))
        return cls(rows[0], rows[1], counts[0], counts[1], size + 1, depth)

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
