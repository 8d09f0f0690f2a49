"""Bounds of measures for which it counts how many open slots turn out well, and which ones."""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray, IntArray
from relevancy.scoring.definition import Compute, Settings
from relevancy.scoring.slots import Slots


def lowest_placement(compute: Compute, slots: Slots, settings: Settings) -> FloatArray:
    """Least value over j of: the top grade in the last j open slots, the lowest grade in the others."""
    from_the_end = np.cumsum(slots.open[:, ::-1], axis=1)[:, ::-1]
    return -_highest(lambda at, how: -compute(at, how), slots, settings, from_the_end)


def placements(compute: Compute, slots: Slots, settings: Settings) -> tuple[FloatArray, FloatArray]:
    """As `lowest_placement`; and the greatest value over j with the top grade in the first j open slots."""
    from_the_start = np.cumsum(slots.open, axis=1)
    return lowest_placement(compute, slots, settings), _highest(compute, slots, settings, from_the_start)


def _highest(compute: Compute, slots: Slots, settings: Settings, numbers: IntArray) -> FloatArray:
    """Greatest value over j with the top grade in the open slots numbered 1 … j."""
    left = slots.open.sum(axis=1)
    best = compute(slots.completed(slots.scale.lowest), settings)
    for count in range(1, int(left.max(initial=0)) + 1):
        still = left >= count
        some = slots if still.all() else slots.rows(still)
        fill = np.where(numbers[still] <= count, slots.scale.top, slots.scale.lowest)
        best[still] = np.maximum(best[still], compute(some.completed(fill), settings))
    return best
