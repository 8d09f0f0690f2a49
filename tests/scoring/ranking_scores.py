"""Scores of one ranking, given as grades."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from relevancy.scoring import Batch, Measure, Scale, Scores, parse_measure, score

Grades = Sequence[float | None]


def batch_from_grades(
    grades: Sequence[Grades], scale: Scale, unretrieved: Sequence[Sequence[float]] | None = None
) -> Batch:
    """`grades`: in rank order, None for unrated documents; `unretrieved`: of documents that were not returned."""
    rankings = [[f"d{rank}" for rank in range(len(row))] for row in grades]
    known = [
        {doc_id: grade for doc_id, grade in zip(ranking, row, strict=True) if grade is not None}
        for ranking, row in zip(rankings, grades, strict=True)
    ]
    for row, others in zip(known, unretrieved or [()] * len(grades), strict=True):
        row |= {f"other {number}": grade for number, grade in enumerate(others)}
    return Batch.build(rankings, known, scale)


def compute_values(measure: Measure, batch: Batch, depth: int) -> NDArray[np.float64]:
    return score(measure, batch, depth, bounds=False).value


def score_ideal(measure: Measure, batch: Batch, depth: int) -> NDArray[np.float64]:
    return score(measure, batch, depth, bounds=False, ideal=True).ideal


def score_ranking(
    measure: str,
    grades: Grades,
    scale: str = "0:3",
    unretrieved: Sequence[float] = (),
    depth: int | None = None,
    count_unscoreable_as_zero: bool = False,
) -> Scores:
    """`unretrieved`: grades of documents that were not returned; `depth`: the number of grades unless given."""
    batch = batch_from_grades([grades], Scale.parse(scale), [unretrieved])
    depth = depth or max(1, len(grades))
    return score(parse_measure(measure), batch, depth, count_unscoreable_as_zero=count_unscoreable_as_zero)


def compute_value(
    measure: str, grades: Grades, scale: str = "0:3", unretrieved: Sequence[float] = (), depth: int = 0
) -> float:
    return float(score_ranking(measure, grades, scale, unretrieved, depth or None).value[0])
