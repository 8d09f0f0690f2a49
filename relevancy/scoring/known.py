"""Every known grade of every query: a ragged list, kept flat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Known:
    """`grades[offsets[q]:offsets[q + 1]]` are the known grades of query q, returned or not, in no order."""

    grades: FloatArray
    offsets: IntArray

    @property
    def counts(self) -> IntArray:
        """How many grades are known, per query."""
        return np.diff(self.offsets)

    def count(self, which: BoolArray) -> FloatArray:
        """Per query, how many of its grades are marked in `which` (one mark per grade)."""
        so_far = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(which)))
        return np.diff(so_far[self.offsets]).astype(np.float64)

    def rows(self, start: int, stop: int) -> Known:
        """The same for the queries from `start` up to, without, `stop`."""
        offsets = self.offsets[start : stop + 1]
        return Known(self.grades[offsets[0] : offsets[-1]], offsets - offsets[0])

    def best(self, most: int | None) -> FloatArray:
        """[queries × n]: each query's best grades, descending, padded with 0; `most` of them, or all. Grades below 0,
        which gain nothing, count as 0."""
        return self._descending(np.fmax(self.grades, 0.0), most, 0.0)

    def ranked(self, most: int | None) -> FloatArray:
        """As `best`, but with every grade as it is and NaN where there are no more."""
        return self._descending(self.grades, most, np.nan)

    def _descending(self, grades: FloatArray, most: int | None, padding: float) -> FloatArray:
        counts = self.counts
        longest = int(counts.max(initial=0))
        width = longest if most is None else min(most, longest)
        best = np.full((len(counts), width), padding)
        # Rows of similar length together: one long list must not make a wide matrix of all the others.
        floor, ceiling = 0, 64
        while floor < longest:
            rows = np.flatnonzero((counts > floor) & (counts <= ceiling))
            if len(rows):
                ranks = np.arange(int(counts[rows].max()))
                inside = ranks < counts[rows, None]
                at = np.minimum(self.offsets[rows, None] + ranks, len(grades) - 1)
                # Negated, the best come first; NaN sorts to the end, and 0 is the least of those padded with 0.
                top = -np.sort(-np.where(inside, grades[at], padding), axis=1)[:, :width]
                best[rows, : top.shape[1]] = top
            floor, ceiling = ceiling, ceiling * 4
        return best
