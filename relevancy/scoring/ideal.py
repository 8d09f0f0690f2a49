"""The grades of the ideal list that nDCG compares with."""

from __future__ import annotations

import numpy as np

from .arrays import FloatArray, descending
from .slots import Slots


def ideal_grades(slots: Slots, ideal: str) -> FloatArray:
    """[queries × n] best grades in descending order, padded with 0; grades below 0 count as 0.

    `ideal`: 'local', 'recall', 'global' (n ≤ k) or 'uncut' (n unlimited).
    """
    if ideal == "local":
        return descending(slots.grades)
    cut = None if ideal == "uncut" else slots.depth
    source = slots.everything if ideal == "recall" else slots.known.best(cut)
    if slots.added.shape[1]:
        source = np.hstack((source, slots.added))
    elif ideal != "recall":
        return source
    return descending(source)[:, :cut]
