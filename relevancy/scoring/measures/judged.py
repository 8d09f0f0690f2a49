"""Judged: how much of what is shown has been rated at all.

    Judged@k = rated / min(k, returned); 0 where nothing was returned

Source: ir-measures' `Judged`. A repeated document counts once, above and below the line, so that 1 means that nothing
among the first k is left to rate.

Example: grades 3 – 0 –: `Judged@10` = 1/2.
"""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray, ratio
from relevancy.scoring.definition import Definition, Example, Settings
from relevancy.scoring.formulas import at_k
from relevancy.scoring.reasons import of_coverage
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.coverage import show_judged


def judged(slots: Slots, _settings: Settings) -> FloatArray:
    rated = (~np.isnan(slots.grades)).sum(axis=1, dtype=np.float64)
    return ratio(rated, rated + slots.open.sum(axis=1))


def formula(_settings: Settings, k: str) -> str:
    rated = rf"\text{{rated documents in the first }} {k}"
    return at_k("Judged", k) + rf"\frac{{{rated}}}{{\min({k}, n)}}, \quad n \text{{ returned}}"


JUDGED = Definition(
    "Judged",
    "Judged",
    "Share of the first k results that are rated.",
    judged,
    unrated_queries="zero",
    formula=formula,
    advice="Use it beside another scorer, to see how far that one can be trusted and which queries to rate next.",
    pitfall="It says nothing about quality: a list of ten documents rated useless scores 100.",
    example=Example("Judged@10", (3, None, 0, None), (), "0:3", 0.5),
    working=show_judged,
    reasons=of_coverage,
)
