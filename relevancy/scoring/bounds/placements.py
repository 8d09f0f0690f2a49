"""Bounds of measures by trying which open slots get the top grade, and which the lowest one."""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray, IntArray
from relevancy.scoring.definition import Compute, Settings
from relevancy.scoring.slots import Slots

_MAX_STACKED = 20_000  # elements of the completions that are computed at once


def extreme_bounds(compute: Compute, slots: Slots, settings: Settings) -> tuple[FloatArray, FloatArray]:
    """Returns [Q] values with the lowest grade in all open slots, and [Q] with the top grade: the bounds of measures that never
    fall when a grade rises."""
    low = compute(slots.fill_open(slots.scale.lowest), settings)
    return low, compute(slots.fill_open(slots.scale.top), settings)


def placement_bounds(compute: Compute, slots: Slots, settings: Settings) -> tuple[FloatArray, FloatArray]:
    """Returns [Q] lowest and [Q] highest value over j, with the top grade in j open slots and the lowest grade in the others: the
    bounds of measures whose value depends on how many open slots get a good grade, and on which ones.

    For the lowest value the top grades are in the last j open slots, for the highest in the first j.
    """
    from_first = np.cumsum(slots.is_open, axis=1)
    return lowest_placement(compute, slots, settings), _highest_placement(compute, slots, settings, from_first)


def lowest_placement(compute: Compute, slots: Slots, settings: Settings) -> FloatArray:
    """Returns [Q] lowest value over j, with the top grade in the last j open slots and the lowest grade in the others."""
    from_last = np.cumsum(slots.is_open[:, ::-1], axis=1)[:, ::-1]
    return -_highest_placement(compute, slots, settings, from_last, sign=-1)


def _highest_placement(
    compute: Compute, slots: Slots, settings: Settings, order: IntArray, sign: int = 1
) -> FloatArray:
    """Returns [Q] highest value over j, times `sign`, with the top grade in the open slots that `order` numbers 1 to j.

    For few queries all placements are computed at once, which saves most of the time of a single query.
    """
    most = int(slots.open_counts.max(initial=0))
    queries, width = slots.grades.shape
    row_length = max(width, len(slots.known.grades), slots.all_grades.shape[1])
    if queries * (most + 1) * row_length <= _MAX_STACKED:
        completions = slots.take(np.repeat(np.arange(queries), most + 1))
        is_top = order[:, None, :] <= np.arange(most + 1)[:, None]
        grades = np.where(is_top, slots.scale.top, slots.scale.lowest).reshape(-1, width)
        values = (sign * compute(completions.fill_open(grades), settings)).reshape(queries, most + 1)
        return np.asarray(values.max(axis=1), dtype=np.float64)
    highest = sign * compute(slots.fill_open(slots.scale.lowest), settings)
    for count in range(1, most + 1):
        has_more = slots.open_counts >= count
        remaining = slots if has_more.all() else slots.take(np.flatnonzero(has_more))
        grades = np.where(order[has_more] <= count, slots.scale.top, slots.scale.lowest)
        highest[has_more] = np.maximum(highest[has_more], sign * compute(remaining.fill_open(grades), settings))
    return highest
