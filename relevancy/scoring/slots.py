"""The slots that a measure looks at: the first k of every ranking.

What an unrated document, a repeat and a ranking shorter than k mean is decided here, once for all measures.

See docs/decisions/0005.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .arrays import BoolArray, FloatArray, IntArray
from .batch import Batch
from .known_grades import KnownGrades
from .scale import Scale


@dataclass(frozen=True, eq=False)
class Slots:
    """The first k slots of the rankings of Q queries.

    Matrices are [Q × width]. The width is at most `k` and at most the length of the longest ranking.

    Attributes:
        grades: NaN where the document is unrated or a repeat, and beyond the end of the ranking; none is below 0.
        is_filled: whether the ranking has a document at this rank.
        is_repeat: whether the document also occurs at a better rank.
        k: the measure's cutoff, or the number of results displayed if it has none.
        has_cutoff: whether the measure has a cutoff of its own.
        all_grades: the grades of everything returned, below k included.
        known: all known grades of each query.
        added: [Q × n] further known grades, from rating open slots (see `fill_open`); NaN where there are none.
        scale: the scale of the grades.
    """

    grades: FloatArray
    is_filled: BoolArray
    is_repeat: BoolArray
    k: int
    has_cutoff: bool
    all_grades: FloatArray
    known: KnownGrades
    added: FloatArray
    scale: Scale

    @cached_property
    def filled_counts(self) -> FloatArray:
        """[Q] number of slots that hold a document: min(k, returned)."""
        return self.is_filled.sum(axis=1, dtype=np.float64)

    @cached_property
    def is_rated(self) -> BoolArray:
        """Slots that have a grade."""
        return ~np.isnan(self.grades)

    @cached_property
    def rated_counts(self) -> FloatArray:
        """[Q] number of slots that have a grade."""
        return self.is_rated.sum(axis=1, dtype=np.float64)

    @cached_property
    def is_open(self) -> BoolArray:
        """Slots whose document is unrated; repeats are not open."""
        return self.is_filled & ~self.is_rated & ~self.is_repeat

    @cached_property
    def open_counts(self) -> IntArray:
        """[Q] number of open slots."""
        return self.is_open.sum(axis=1)

    @cached_property
    def ranks(self) -> FloatArray:
        """1, 2, …, width."""
        return np.arange(1.0, self.grades.shape[1] + 1)

    def is_relevant(self, rel: float) -> BoolArray:
        """Returns slots whose grade is at least `rel`."""
        return self.grades >= rel

    def count_known(self, low: float, below: float = np.inf) -> FloatArray:
        """Returns [Q] number of known grades g with low ≤ g < below."""
        grades = self.known.grades
        counts = self.known.count(grades >= low if below == np.inf else (grades >= low) & (grades < below))
        if not self.added.shape[1]:
            return counts
        return counts + ((self.added >= low) & (self.added < below)).sum(axis=1)

    @property
    def is_gain_known(self) -> BoolArray:
        """[Q] whether a document with a grade above 0 is known."""
        return self.count_known(np.nextafter(0.0, 1.0)) > 0

    def fill_open(self, grade: FloatArray | float) -> Slots:
        """Returns the same slots as if the open ones had been rated; `grade` is one grade, or one per slot."""
        added = np.where(self.is_open, grade, np.nan)
        return replace(self, grades=np.where(self.is_open, added, self.grades), added=added)

    def take(self, queries: IntArray) -> Slots:
        """Returns the queries with these indices, in this order; an index may occur more than once."""
        return replace(
            self,
            grades=self.grades[queries],
            is_filled=self.is_filled[queries],
            is_repeat=self.is_repeat[queries],
            all_grades=self.all_grades[queries],
            known=self.known.take(queries),
            added=self.added[queries],
        )


def take_slots(batch: Batch, cutoff: int | None, depth: int, *, skip_unrated: bool) -> Slots:
    """Returns the first `cutoff` slots of each ranking; without a cutoff the first `depth`, the number of results displayed.

    `skip_unrated`: remove unrated documents from the whole ranking first and close the gaps.
    """
    k = max(1, cutoff or depth)
    grades, is_repeat = batch.grades, batch.repeats
    lengths = np.minimum(batch.returned, grades.shape[1])
    if skip_unrated:
        is_kept = ~np.isnan(grades) | is_repeat
        order = np.argsort(~is_kept, axis=1, kind="stable")[:, :k]
        lengths = is_kept.sum(axis=1)
        grades, is_repeat = np.take_along_axis(grades, order, 1), np.take_along_axis(is_repeat, order, 1)
    grades, is_repeat = grades[:, :k], is_repeat[:, :k]
    return Slots(
        grades=grades,
        is_filled=np.arange(grades.shape[1]) < lengths[:, None],
        is_repeat=is_repeat,
        k=k,
        has_cutoff=cutoff is not None,
        all_grades=batch.grades,
        known=batch.known,
        added=np.empty((len(grades), 0)),
        scale=batch.scale,
    )
