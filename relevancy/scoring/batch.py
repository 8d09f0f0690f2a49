"""The rankings of many queries as a matrix of grades: the input of all measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .arrays import BoolArray, FloatArray, IntArray
from .errors import GradeError
from .grade_lookup import find_repeats, flatten_grades, look_up_grades, ranking_lengths
from .known_grades import KnownGrades
from .scale import Scale


@dataclass(frozen=True, eq=False)
class Batch:
    """The rankings of Q queries.

    Attributes:
        grades: [Q × depth] the grade of the document at each rank; NaN for an unrated document, for a repeat, beyond the
            end of the ranking, and for a grade below 0, which means "not judged" in TREC files.
        returned: [Q] number of documents in each ranking.
        repeats: [Q × depth] whether the document also occurs at a better rank. A repeat keeps its slot, has no gain
            and does not count as unrated.
        known: all known grades of each query, those of returned documents included.
        scale: the scale of the grades.

    Raises `GradeError` if the arrays differ in length or a grade is above the scale.
    """

    grades: FloatArray
    returned: IntArray
    repeats: BoolArray
    known: KnownGrades
    scale: Scale

    def __post_init__(self) -> None:
        if not (
            self.grades.shape == self.repeats.shape and len(self.grades) == len(self.returned) == len(self.known.counts)
        ):
            raise GradeError(
                f"The number of queries differs: {len(self.grades)} rankings, {len(self.returned)} ranking lengths, "
                f"known grades of {len(self.known.counts)} queries."
            )
        highest = float(self.known.grades.max(initial=0.0))
        if not highest <= self.scale.top:
            raise GradeError(f"Grade {highest:g} is above the top of the scale, {self.scale.top:g}.")
        is_negative = self.grades < 0
        if is_negative.any():
            object.__setattr__(self, "grades", np.where(is_negative, np.nan, self.grades))

    def __len__(self) -> int:
        return len(self.grades)

    def rows(self, start: int, stop: int) -> Batch:
        """Returns the queries from `start` up to, but not including, `stop`."""
        rows = slice(start, stop)
        return Batch(
            self.grades[rows], self.returned[rows], self.repeats[rows], self.known.rows(start, stop), self.scale
        )

    def ideal(self, depth: int | None = None) -> Batch:
        """Returns the same queries, each with a ranking of its `depth` best known documents (None: all), best first."""
        grades = self.known.ranked(depth)
        returned = (~np.isnan(grades)).sum(axis=1)
        return Batch(grades, returned, np.zeros(grades.shape, dtype=np.bool_), self.known, self.scale)

    @classmethod
    def build(
        cls,
        rankings: Sequence[Sequence[str]],
        known: Sequence[Mapping[str, float]],
        scale: Scale,
    ) -> Batch:
        """Returns a batch from document ids.

        `rankings[q]`: document ids in rank order. `known[q]`: {document id: grade} of every rated document of query q.

        Raises `GradeError` for different lengths, a grade that is not a finite number, and a grade above the scale.
        """
        if len(rankings) != len(known):
            raise GradeError(f"There are {len(rankings)} rankings, but known grades of {len(known)} queries.")
        known_grades, are_bytes = flatten_grades(known)
        lengths = ranking_lengths(rankings)
        grades = look_up_grades(rankings, known, are_bytes, lengths)
        return cls(grades, lengths, find_repeats(rankings, grades.shape[1]), known_grades, scale)
