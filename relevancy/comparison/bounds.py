"""How far a difference could move if the unrated documents were rated.

See docs/decisions/0081.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relevancy import scores, scoring
from relevancy.models import Book, ScorerVersion

from .measures import read_exact_measure

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class DifferenceBounds:
    """The difference of two runs lies between these, in points, whatever grades the unrated documents get."""

    low: float
    high: float


@dataclass(frozen=True)
class Outlook:
    """What the difference can still become over all queries of the case, those that are left out included, in points.

    low, high: whatever grades the unrated documents get, and whatever the queries without a score get.
    rated: the share of the documents considered in either run that are rated; None without documents.
    """

    low: float
    high: float
    rated: float | None


class RangeCalculator:
    """Computes the lowest and the highest score of a query in each of several runs, whatever grades the documents get that are unrated
    among the results that the scorer considers in any of these runs.

    A document that only another run returned counts as well: once it is rated, it belongs to the known documents, which the ideal
    order is made from. Such documents are tried with the lowest and with the top grade.
    """

    def __init__(self, version: ScorerVersion, book: Book, depths: Sequence[int], considered: Sequence[int]) -> None:
        """depths: displayed results of each run. considered: results of each run that the scorer looks at."""
        self._depths = depths
        self._considered = considered
        self._scale = scores.scale_of(book)
        self._counts_zero = version.count_unscoreable_as_zero
        self._measure = read_exact_measure(version)

    def ranges(
        self, lists: Sequence[Sequence[Sequence[str] | None]], known_grades: Sequence[Mapping[str, float]]
    ) -> tuple[Floats, Floats]:
        """Returns [n × runs] lowest and [n × runs] highest scores; NaN without a list, for scripts, and for estimated ranges.

        lists: [runs][n] document ids, None where a run has no results. known: [n] grades by document id.
        """
        low, high = (np.full((len(known_grades), len(lists)), np.nan) for _ in range(2))
        if self._measure is None or not known_grades:
            return low, high
        unrated = [
            [self._unrated(lists_of_run[row], known_grades[row], run) for run, lists_of_run in enumerate(lists)]
            for row in range(len(known_grades))
        ]
        for run, lists_of_run in enumerate(lists):
            rows = [row for row, doc_ids in enumerate(lists_of_run) if doc_ids is not None]
            rankings = [lists_of_run[row] or [] for row in rows]
            lowest, highest = np.full(len(rows), np.inf), np.full(len(rows), -np.inf)
            for grade in (None, self._scale.lowest, self._scale.top):
                grades = [_with_others(known_grades[row], unrated[row], run, grade) for row in rows]
                batch = scoring.Batch.build(rankings, grades, self._scale)
                range_low, range_high = self._score(batch, self._depths[run])
                lowest, highest = np.minimum(lowest, range_low), np.maximum(highest, range_high)
            low[rows, run], high[rows, run] = lowest, highest
        return low, high

    def _unrated(self, doc_ids: Sequence[str] | None, grades: Mapping[str, float], run: int) -> set[str]:
        return {doc_id for doc_id in (doc_ids or [])[: self._considered[run]] if doc_id not in grades}

    def _score(self, batch: scoring.Batch, depth: int) -> tuple[Floats, Floats]:
        assert self._measure is not None
        result = scoring.score(self._measure, batch, depth)
        if not self._counts_zero:
            return result.low, result.high
        # Counts 0 now, and gets any score once a relevant document is known.
        return np.where(result.is_scoreable, result.low, 0.0), np.where(result.is_scoreable, result.high, 100.0)


def _with_others(
    known_grades: Mapping[str, float], unrated: Sequence[set[str]], run: int, grade: float | None
) -> Mapping[str, float]:
    """Returns the known grades, with `grade` for what is unrated in other runs and not in this one."""
    if grade is None:
        return known_grades
    others = set[str]().union(*unrated) - unrated[run]
    return {**known_grades, **dict.fromkeys(others, grade)}


def bound_difference(
    low: Floats, high: Floats, weights: Floats, first: int, second: int, *, is_same: NDArray[np.bool_]
) -> DifferenceBounds | None:
    """Returns bounds of the mean difference `second − first` over some queries; None if the scorer gives no bounds.

    low, high: [n × runs]. is_same: [n] whether there cannot be a difference, because both runs returned and display exactly the same.

    For each query, the lowest score of one run is compared with the highest of the other. The bounds hold, but need not be
    reached: a document in both lists has one grade.
    """
    if (
        not len(low)
        or not np.isfinite(low[:, [first, second]]).all()
        or not np.isfinite(high[:, [first, second]]).all()
    ):
        return None
    lowest = np.where(is_same, 0.0, low[:, second] - high[:, first])
    highest = np.where(is_same, 0.0, high[:, second] - low[:, first])
    return DifferenceBounds(float(np.average(lowest, weights=weights)), float(np.average(highest, weights=weights)))
