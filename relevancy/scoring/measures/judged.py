"""Judged: the share of the results that are rated.

    Judged@k = rated / min(k, returned); 0 if nothing was returned

A document that is returned twice counts once, so that 1 means that none of the first k is left to rate. A grade below
0, as in some TREC files, means unjudged, as in trec_eval.
Source: ir-measures' `Judged`, which counts grades below 0 as judged.

Example: grades 3 – 0 –: `Judged@10` = 1/2.
"""

from __future__ import annotations

from relevancy.scoring.arrays import FloatArray, divide_or_zero
from relevancy.scoring.definition import Definition, Example, Settings
from relevancy.scoring.measures.latex import left_side
from relevancy.scoring.reasons.by_measure import list_judged_reasons
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.relevance import build_judged_working


def compute_judged(slots: Slots, _settings: Settings) -> FloatArray:
    return divide_or_zero(slots.rated_counts, slots.rated_counts + slots.open_counts)


def judged_formula(_settings: Settings, k: str) -> str:
    rated = rf"\text{{rated documents in the first }} {k}"
    return left_side("Judged", k) + rf"\frac{{{rated}}}{{\min({k}, n)}}, \quad n \text{{ returned}}"


JUDGED = Definition(
    "Judged",
    "Judged",
    "The share of the first k results that are rated.",
    compute_judged,
    unrated_queries="zero",
    formula=judged_formula,
    advice="Use it next to another scorer: it shows how reliable that one is and which queries to rate next.",
    pitfall="It says nothing about quality: a list of ten documents rated as useless scores 100.",
    example=Example("Judged@10", (3, None, 0, None), (), "0:3", 0.5),
    build_working=build_judged_working,
    list_reasons=list_judged_reasons,
)
