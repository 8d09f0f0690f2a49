"""What a measure sees of a batch: the first k slots of every ranking. Decided here once, for all measures."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .arrays import BoolArray, FloatArray
from .batch import Batch
from .known import Known
from .scale import Scale


@dataclass(frozen=True, eq=False)
class Slots:
    """Matrices are [queries × width], width ≤ `depth`: never wider than the longest ranking.

    `grades`: NaN where unrated, where a document is repeated, and beyond the end. `filled`: a document is there.
    `repeated`: it stood at a better rank already. `depth`: the k of the measure, or how many results are shown.
    `at_own_length`: no k was given. `everything`: all grades returned, also below k. `known`: all known grades;
    `added`: further ones, that a completion makes known (NaN where it adds none).
    """

    grades: FloatArray
    filled: BoolArray
    repeated: BoolArray
    depth: int
    at_own_length: bool
    everything: FloatArray
    known: Known
    added: FloatArray
    scale: Scale

    @property
    def held(self) -> FloatArray:
        """How many of the first k slots hold a document, per query."""
        return self.filled.sum(axis=1, dtype=np.float64)

    @property
    def open(self) -> BoolArray:
        """Slots whose document is unrated; a repeat is not."""
        return self.filled & np.isnan(self.grades) & ~self.repeated

    @property
    def ranks(self) -> FloatArray:
        """1, 2, …, width."""
        return np.arange(1.0, self.grades.shape[1] + 1)

    def relevant(self, rel: float) -> BoolArray:
        """Slots whose grade is at least `rel`."""
        return self.grades >= rel

    def known_between(self, low: float, high: float = np.inf) -> FloatArray:
        """How many known grades g have low ≤ g < high, per query."""
        known = self.known.count((self.known.grades >= low) & (self.known.grades < high))
        return known + ((self.added >= low) & (self.added < high)).sum(axis=1)

    def completed(self, fill: FloatArray | float) -> Slots:
        """The same slots after the open ones were rated: `fill` is one grade, or one per slot."""
        values = np.where(self.open, fill, np.nan)
        return replace(self, grades=np.where(self.open, values, self.grades), added=values)

    def rows(self, which: BoolArray) -> Slots:
        """The same for some of the queries."""
        chosen = np.flatnonzero(which)
        counts = self.known.counts[chosen]
        offsets = np.concatenate(([0], np.cumsum(counts)))
        known = Known(self.known.grades[np.repeat(which, self.known.counts)], offsets)
        return replace(
            self, grades=self.grades[chosen], filled=self.filled[chosen], repeated=self.repeated[chosen],
            everything=self.everything[chosen], known=known, added=self.added[chosen],
        )  # fmt: skip


def look(batch: Batch, cutoff: int | None, shown: int, skip: bool) -> Slots:
    """The first `cutoff` slots (or `shown`, where no cutoff is given) of each ranking of `batch`.

    `skip`: take unrated documents out of the whole ranking first and close the gaps.
    """
    depth = max(1, cutoff or shown)
    grades, repeated = batch.grades, batch.repeats
    held = np.minimum(batch.returned, grades.shape[1])
    if skip:
        keep = ~np.isnan(grades) | repeated
        order = np.argsort(~keep, axis=1, kind="stable")[:, :depth]
        held = keep.sum(axis=1)
        grades, repeated = np.take_along_axis(grades, order, 1), np.take_along_axis(repeated, order, 1)
    grades, repeated = grades[:, :depth], repeated[:, :depth]
    return Slots(
        grades=grades,
        filled=np.arange(grades.shape[1]) < held[:, None],
        repeated=repeated,
        depth=depth,
        at_own_length=cutoff is None,
        everything=batch.grades,
        known=batch.known,
        added=np.empty((len(grades), 0)),
        scale=batch.scale,
    )
