"""Bounds of measures that never fall when a grade rises."""

from __future__ import annotations

from relevancy.scoring.arrays import FloatArray
from relevancy.scoring.definition import Compute, Settings
from relevancy.scoring.slots import Slots


def extremes(compute: Compute, slots: Slots, settings: Settings) -> tuple[FloatArray, FloatArray]:
    """All open slots of the lowest grade, and all of the top grade."""
    low = compute(slots.completed(slots.scale.lowest), settings)
    high = compute(slots.completed(slots.scale.top), settings)
    return low, high
