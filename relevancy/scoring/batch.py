"""Many rankings at once, as a matrix of grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .arrays import BoolArray, FloatArray, IntArray
from .errors import GradeError
from .known import Known
from .lookup import known_grades, lengths_of, looked_up, repeats_in, spread
from .scale import Scale


@dataclass(frozen=True, eq=False)
class Batch:
    """Rankings of Q queries.

    `grades` [Q × depth]: the grade of the document at each rank, NaN where it is unrated, where it is a repeat, and
    beyond the end. `returned` [Q]: how many documents each ranking has. `repeats` [Q × depth]: the document stood at
    a better rank already; it keeps its slot, gains nothing, and is not unrated. `known`: all known grades of each
    query, those of returned documents included. No grade may lie above the scale's top.
    """

    grades: FloatArray
    returned: IntArray
    repeats: BoolArray
    known: Known
    scale: Scale

    def __post_init__(self) -> None:
        queries = len(self.grades)
        if (
            self.grades.shape != self.repeats.shape
            or len(self.returned) != queries
            or len(self.known.counts) != queries
        ):
            raise GradeError(
                f"Rankings and grades do not fit together: {queries} rankings, {len(self.returned)} lengths, "
                f"known grades of {len(self.known.counts)} queries."
            )
        best = float(self.known.grades.max(initial=0.0))
        if not best <= self.scale.top:
            raise GradeError(f"Grade {best:g} is above the scale's top, {self.scale.top:g}.")

    def __len__(self) -> int:
        return len(self.grades)

    def rows(self, start: int, stop: int) -> Batch:
        """The queries from `start` up to, without, `stop`."""
        rows = slice(start, stop)
        return Batch(
            self.grades[rows], self.returned[rows], self.repeats[rows], self.known.rows(start, stop), self.scale
        )

    def best(self, most: int | None = None) -> FloatArray:
        """[Q × n] the known grades of each query, best first; `most` of them, or all; NaN where there are no more."""
        return self.known.ranked(most)

    def ideal(self, depth: int | None = None) -> Batch:
        """The same queries, had they returned their `depth` best known documents (None: all of them), best first."""
        grades = self.best(depth)
        returned = (~np.isnan(grades)).sum(axis=1)
        return Batch(grades, returned, np.zeros(grades.shape, dtype=np.bool_), self.known, self.scale)

    @classmethod
    def build(
        cls,
        rankings: Sequence[Sequence[str]],
        known: Sequence[Mapping[str, float]],
        scale: Scale,
        depth: int | None = None,
    ) -> Batch:
        """From document ids: `rankings[q]` in rank order, `known[q]` the grade of each rated document of query q.

        `depth` cuts every ranking: what lies below is treated as not returned. Leave it out for measures that look
        below k (`unrated='skip'`, `ideal='recall'`).
        """
        if len(rankings) != len(known):
            raise GradeError(f"{len(rankings)} rankings were given, and grades of {len(known)} queries.")
        cut = rankings if depth is None else [ranking[:depth] for ranking in rankings]
        every, small = known_grades(known)
        lengths = lengths_of(cut)
        grades = spread(looked_up(cut, known, small), lengths)
        return cls(grades, lengths, repeats_in(cut, grades.shape[1]), every, scale)

    @classmethod
    def from_grades(
        cls,
        grades: Sequence[Sequence[float | None]],
        scale: Scale,
        known_extra: Sequence[Sequence[float]] | None = None,
    ) -> Batch:
        """From grades in rank order, None = unrated; `known_extra[q]` are grades of documents not returned."""
        extra = known_extra if known_extra is not None else [()] * len(grades)
        if len(extra) != len(grades):
            raise GradeError(f"{len(grades)} rankings were given, and further grades of {len(extra)} queries.")
        lengths = np.array([len(ranking) for ranking in grades], dtype=np.int64)
        flat = np.array([grade for ranking in grades for grade in ranking], dtype=np.float64)
        matrix = spread(flat, lengths)
        known = [
            [grade for grade in ranking if grade is not None] + list(more)
            for ranking, more in zip(grades, extra, strict=True)
        ]
        offsets = np.cumsum([0, *map(len, known)], dtype=np.int64)
        every = Known(np.array([grade for row in known for grade in row], dtype=np.float64), offsets)
        return cls(matrix, lengths, np.zeros(matrix.shape, dtype=np.bool_), every, scale)
