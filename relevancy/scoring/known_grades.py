"""All known grades of all queries, returned or not: ragged rows in one flat array."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from .arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class KnownGrades:
    """`grades[offsets[q]:offsets[q + 1]]` are the known grades of query q, in no particular order."""

    grades: FloatArray
    offsets: IntArray
    # The results of `best` by limit: a value, its bounds and its ideal need the same ones.
    _best: dict[int | None, FloatArray] = field(default_factory=dict, init=False)

    @cached_property
    def counts(self) -> IntArray:
        """[Q] number of known grades."""
        return np.diff(self.offsets)

    def count(self, selected: BoolArray) -> FloatArray:
        """Returns [Q] number of grades that are selected; `selected` has one element per grade."""
        if len(self.offsets) == 2:
            return np.array([np.count_nonzero(selected)], dtype=np.float64)
        running = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(selected)))
        return np.diff(running[self.offsets]).astype(np.float64)

    def rows(self, start: int, stop: int) -> KnownGrades:
        """Returns the queries from `start` up to, but not including, `stop`."""
        offsets = self.offsets[start : stop + 1]
        return KnownGrades(self.grades[offsets[0] : offsets[-1]], offsets - offsets[0])

    def take(self, queries: IntArray) -> KnownGrades:
        """Returns the queries with these indices, in this order; an index may occur more than once."""
        counts = self.counts[queries]
        offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts)))
        shift = np.repeat(self.offsets[queries] - offsets[:-1], counts)
        taken = KnownGrades(self.grades[np.arange(len(shift)) + shift], offsets)
        taken._best.update({limit: best[queries] for limit, best in self._best.items()})
        return taken

    def best(self, limit: int | None) -> FloatArray:
        """Returns [Q × n] the best `limit` grades of each query (None: all), descending, padded with 0. Grades below 0, which
        have no gain, count as 0. Read-only."""
        if limit not in self._best:
            self._best[limit] = self._descending(np.fmax(self.grades, 0.0), limit, 0.0)
            self._best[limit].flags.writeable = False
        return self._best[limit]

    def ranked(self, limit: int | None) -> FloatArray:
        """Like `best`, but grades below 0 are kept and rows are padded with NaN."""
        return self._descending(self.grades, limit, np.nan)

    def _descending(self, grades: FloatArray, limit: int | None, padding: float) -> FloatArray:
        counts = self.counts
        longest = int(counts.max(initial=0))
        width = longest if limit is None else min(limit, longest)
        best = np.full((len(counts), width), padding)
        # Rows of similar length are sorted together, so that one long row does not make all others as wide.
        floor, ceiling = 0, 64
        while floor < longest:
            rows = np.flatnonzero((counts > floor) & (counts <= ceiling))
            if len(rows):
                ranks = np.arange(int(counts[rows].max()))
                is_filled = ranks < counts[rows, None]
                positions = np.minimum(self.offsets[rows, None] + ranks, len(grades) - 1)
                # Negated, the best come first; NaN sorts to the end, and 0 is the least of those padded with 0.
                descending = -np.sort(-np.where(is_filled, grades[positions], padding), axis=1)[:, :width]
                best[rows, : descending.shape[1]] = descending
            floor, ceiling = ceiling, ceiling * 4
        return best
