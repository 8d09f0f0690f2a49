"""How far a difference could move if the unrated documents were rated.

See docs/decisions/0081.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .run_scorer import Grades, Lists, RunScorer
from .score_tables import Floats


@dataclass(frozen=True)
class Outlook:
    """What the difference can still become over all queries of the case, those that are left out included, in points.

    low, high: whatever grades the unrated documents get, and whatever the queries without a score get.
    rated: the share of the documents considered in either run that are rated; None without documents.
    """

    low: float
    high: float
    rated: float | None


def score_ranges(scorer: RunScorer, lists: Lists, known_grades: Grades) -> tuple[Floats, Floats]:
    """Returns [n × runs] lowest and [n × runs] highest scores of queries, whatever grades the documents get that are unrated among the
    results that the scorer considers in any run. NaN without a list, for scripts, and for estimated ranges.

    A document that only another run returned counts as well: once it is rated, it belongs to the known documents, which the ideal
    order is made from. Such documents are tried with the lowest and with the top grade.
    """
    low, high = (np.full((len(known_grades), len(lists)), np.nan) for _ in range(2))
    if not scorer.has_exact_range or not known_grades:
        return low, high
    unrated = [
        [
            {doc_id for doc_id in (rankings[row] or [])[:k] if doc_id not in grades}
            for rankings, k in zip(lists, scorer.considered, strict=True)
        ]
        for row, grades in enumerate(known_grades)
    ]
    for run, rankings in enumerate(lists):
        rows = [row for row, doc_ids in enumerate(rankings) if doc_ids is not None]
        elsewhere = [set[str]().union(*unrated[row]) - unrated[row][run] for row in rows]
        lowest, highest = np.full(len(rows), np.inf), np.full(len(rows), -np.inf)
        for grade in (None, scorer.scale.lowest, scorer.scale.top):
            grades = [
                known_grades[row] if grade is None else {**known_grades[row], **dict.fromkeys(others, grade)}
                for row, others in zip(rows, elsewhere, strict=True)
            ]
            result = scorer.score(run, [rankings[row] or [] for row in rows], grades, bounds=True)
            range_low, range_high = result.low, result.high
            if scorer.version.count_unscoreable_as_zero:
                # Counts 0 now, and gets any score once a relevant document is known.
                range_low = np.where(result.is_scoreable, range_low, 0.0)
                range_high = np.where(result.is_scoreable, range_high, 100.0)
            lowest, highest = np.minimum(lowest, range_low), np.maximum(highest, range_high)
        low[rows, run], high[rows, run] = lowest, highest
    return low, high
