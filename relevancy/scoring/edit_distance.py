"""Levenshtein distance between lists of grades: replacing, removing and inserting a grade cost 1 each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .arrays import FloatArray

_SMALL = 150  # elements, up to which Python loops are faster than arrays


@dataclass(frozen=True)
class Edit:
    """One edit of a list of grades.

    Attributes:
        rank: the rank in the list before all edits; of an insertion, the rank after which the grade is inserted, or 0.
        removed: the grade that is replaced or removed; None for an insertion.
        inserted: the grade that takes its place or is inserted; None for a removal.
    """

    rank: int
    removed: float | None
    inserted: float | None


def compute_edit_distances(grades: FloatArray, ideal: FloatArray, lengths: FloatArray) -> FloatArray:
    """Returns [Q] the distance between the first `lengths[q]` elements of each pair of rows of two [Q × n] matrices."""
    queries, width = grades.shape
    if queries * width <= _SMALL:
        pairs = zip(grades.tolist(), ideal.tolist(), map(int, lengths), strict=True)
        return np.array([_cost_table(row[:n], best[:n])[-1][-1] for row, best, n in pairs], dtype=np.float64)
    steps = np.arange(width + 1.0)
    costs = np.broadcast_to(steps, (queries, width + 1))
    distances = np.zeros(queries)
    for index in range(width):
        next_costs = np.empty((queries, width + 1))
        next_costs[:, 0] = index + 1
        replacing = costs[:, :-1] + (grades[:, index, None] != ideal)
        next_costs[:, 1:] = np.minimum(costs[:, 1:] + 1, replacing)
        # Insertions run along the row: the least of (cost at j + distance from j) over all j before.
        costs = np.minimum.accumulate(next_costs - steps, axis=1) + steps
        distances = np.where(lengths == index + 1, costs[:, index + 1], distances)
    return distances


def find_edits(grades: Sequence[float], ideal: Sequence[float]) -> list[Edit]:
    """Returns a shortest sequence of edits that turns `grades` into `ideal`, in the order of the ranks of `grades`."""
    costs = _cost_table(grades, ideal)
    edits: list[Edit] = []
    row, column = len(grades), len(ideal)
    while row or column:
        is_equal = bool(row and column) and grades[row - 1] == ideal[column - 1]
        if row and column and costs[row][column] == costs[row - 1][column - 1] + (not is_equal):
            if not is_equal:
                edits.append(Edit(row, grades[row - 1], ideal[column - 1]))
            row, column = row - 1, column - 1
        elif row and costs[row][column] == costs[row - 1][column] + 1:
            edits.append(Edit(row, grades[row - 1], None))
            row -= 1
        else:
            edits.append(Edit(row, None, ideal[column - 1]))
            column -= 1
    edits.reverse()
    return edits


def _cost_table(grades: Sequence[float], ideal: Sequence[float]) -> list[list[int]]:
    """Returns [row][column]: edits that turn the first `row` elements of `grades` into the first `column` of `ideal`."""
    table = [list(range(len(ideal) + 1))]
    for index, grade in enumerate(grades):
        above, row = table[-1], [index + 1]
        left = index + 1
        for column, wanted in enumerate(ideal):
            cost = above[column] + (grade != wanted)
            if above[column + 1] < cost:
                cost = above[column + 1] + 1
            if left < cost:
                cost = left + 1
            row.append(cost)
            left = cost
        table.append(row)
    return table
