"""Scores lists of document ids as runs returned them, with grades that are made up: for what is computed beyond the stored scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from relevancy import scores, scoring
from relevancy.models import Book, Run, ScorerVersion

WITHOUT_EXACT_RANGE = {"AvgEdit"}  # measures whose range is an estimate

# [runs][n] document ids, None where a run has no results; and [n] grades by document id.
type Lists = Sequence[Sequence[Sequence[str] | None]]
type Grades = Sequence[Mapping[str, float]]


def read_measure(version: ScorerVersion) -> scoring.Measure | None:
    """Returns the measure; None for scripts, and for measures of a package that is not installed."""
    if version.script:
        return None
    try:
        return scoring.parse_measure(version.measure)
    except scoring.MeasureError:
        return None


def has_exact_range(version: ScorerVersion) -> bool:
    """Returns whether the ranges of scores are known and no estimates."""
    measure = read_measure(version)
    return measure is not None and measure.name not in WITHOUT_EXACT_RANGE


@dataclass(frozen=True)
class RunScorer:
    """A scorer for several runs of one book.

    depths: displayed results of each run. considered: results of each run that the scorer looks at.
    """

    version: ScorerVersion
    book: Book
    depths: Sequence[int]
    considered: Sequence[int]

    @classmethod
    def build(cls, runs: Sequence[Run], version: ScorerVersion) -> RunScorer:
        depths = [int(run.config["depth"]) for run in runs]
        considered = [scores.considered_depth(version, depth) for depth in depths]
        return cls(version, runs[0].case.book, depths, considered)

    @cached_property
    def measure(self) -> scoring.Measure | None:
        return read_measure(self.version)

    @property
    def has_exact_range(self) -> bool:
        return has_exact_range(self.version)

    @cached_property
    def scale(self) -> scoring.Scale:
        return scores.scale_of(self.book)

    def score(
        self, run: int, rankings: Sequence[Sequence[str]], grades: Grades, *, bounds: bool = False
    ) -> scoring.Scores:
        """Returns the scores of rankings of the run at a position; those that are not scoreable count as 0 if the scorer says so, but
        for `bounds`."""
        assert self.measure is not None
        return scoring.score(
            self.measure,
            scoring.Batch.build(rankings, grades, self.scale),
            self.depths[run],
            count_unscoreable_as_zero=self.version.count_unscoreable_as_zero and not bounds,
            bounds=bounds,
        )
