"""The ideal list that nDCG compares a ranking with."""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray, sort_descending
from relevancy.scoring.slots import Slots


def ideal_grades(slots: Slots, ideal: str) -> FloatArray:
    """Returns [Q × n] the grades of the ideal list, descending, padded with 0; grades below 0 count as 0.

    `ideal`: 'local', 'recall', 'global' (n ≤ k) or 'uncut' (n unlimited).
    """
    if ideal == "local":
        return sort_descending(slots.grades)
    limit = None if ideal == "uncut" else slots.k
    source = slots.all_grades if ideal == "recall" else slots.known.best(limit)
    if slots.added.shape[1]:
        source = np.hstack((source, slots.added))
    elif ideal != "recall":
        return source
    return sort_descending(source)[:, :limit]
