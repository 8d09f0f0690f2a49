"""Judged: how much of what is shown has been rated at all.

    Judged@k = rated / min(k, returned); 0 where nothing was returned

Source: ir-measures' `Judged`. A repeated document counts once, above and below the line, so that 1 means that nothing
among the first k is left to rate.

Example: grades 3 – 0 –: `Judged@10` = 1/2.
"""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray, ratio
from relevancy.scoring.definition import Definition, Settings
from relevancy.scoring.slots import Slots


def judged(slots: Slots, _settings: Settings) -> FloatArray:
    rated = (~np.isnan(slots.grades)).sum(axis=1, dtype=np.float64)
    return ratio(rated, rated + slots.open.sum(axis=1))


JUDGED = Definition(
    "Judged",
    "Judged",
    "Share of the first k results that are rated.",
    judged,
    unrated_queries="zero",
)
