"""Bounds of measures that never fall when a grade rises."""

from __future__ import annotations

from relevancy.scoring.arrays import FloatArray
from relevancy.scoring.definition import Compute, Settings
from relevancy.scoring.slots import Slots


def extreme_bounds(compute: Compute, slots: Slots, settings: Settings) -> tuple[FloatArray, FloatArray]:
    """Returns [Q] values with the lowest grade in all open slots, and [Q] with the top grade."""
    low = compute(slots.fill_open(slots.scale.lowest), settings)
    high = compute(slots.fill_open(slots.scale.top), settings)
    return low, high
