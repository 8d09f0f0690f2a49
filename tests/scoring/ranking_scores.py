"""Scores of one ranking, given as grades."""

from __future__ import annotations

from collections.abc import Sequence

from relevancy.scoring import Batch, Scale, Scores, parse_measure, score

Grades = Sequence[float | None]


def score_ranking(
    measure: str,
    grades: Grades,
    scale: str = "0:3",
    unretrieved: Sequence[float] = (),
    depth: int | None = None,
    count_unscoreable_as_zero: bool = False,
) -> Scores:
    """`unretrieved`: grades of documents that were not returned; `depth`: the number of grades unless given."""
    batch = Batch.from_grades([grades], Scale.parse(scale), [unretrieved])
    depth = depth or max(1, len(grades))
    return score(parse_measure(measure), batch, depth, count_unscoreable_as_zero=count_unscoreable_as_zero)


def compute_value(
    measure: str, grades: Grades, scale: str = "0:3", unretrieved: Sequence[float] = (), depth: int = 0
) -> float:
    return float(score_ranking(measure, grades, scale, unretrieved, depth or None).value[0])
