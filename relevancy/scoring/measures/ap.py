"""AP: average precision.

    AP = Σ P@r at every rank r ≤ k with a relevant document / number of known relevant documents

Source: Harman, "Overview of the first TREC conference", 1993; as trec_eval's map and map_cut. The divisor is the number
of all known relevant documents, even if there are more than k. Without @k: all results displayed.

Example: relevant – relevant – relevant (3 known): .755556.
"""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray, divide_or_zero
from relevancy.scoring.bounds.placements import placement_bounds
from relevancy.scoring.definition import REL, UNRATED, Definition, Example, Settings, need_relevant
from relevancy.scoring.measures.latex import left_side, relevance_latex, skipping_latex
from relevancy.scoring.reasons.by_measure import list_ap_reasons
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.relevance import build_ap_working


def compute_ap(slots: Slots, settings: Settings) -> FloatArray:
    rel = settings.number("rel")
    is_relevant = slots.is_relevant(rel)
    hits = np.cumsum(is_relevant, axis=1, dtype=np.float64)
    return divide_or_zero((is_relevant * (hits / slots.ranks)).sum(axis=1), slots.count_known(rel))


def ap_formula(settings: Settings, k: str) -> str:
    precision = r"\frac{\text{rel}_1 + \ldots + \text{rel}_r}{r}"
    total = rf"\frac{{1}}{{R}} \sum_{{r=1}}^{{{k}}} \text{{rel}}_r \cdot {precision}"
    known = r", \quad R \text{ known relevant documents}"
    return left_side("AP", k) + total + known + relevance_latex(settings) + skipping_latex(settings)


AP = Definition(
    "AP",
    "Average precision",
    "The precision at the rank of each relevant result, averaged over all known relevant documents.",
    compute_ap,
    (REL, UNRATED),
    needs=need_relevant,
    bounds=placement_bounds,
    formula=ap_formula,
    advice="Use it when the judgments are complete and users may want every relevant document, as in research or "
    "legal search. It rewards finding all relevant documents and ranking them early.",
    pitfall="Relevant documents without a rating are missing from both the sum and the divisor, so the value is arbitrary "
    "if judgments are sparse. Relevance is yes or no: a perfect document counts no more than a fair one.",
    example=Example("AP", (1, 0, 1, 0, 1), (), "0:1", 0.755556),
    build_working=build_ap_working,
    list_reasons=list_ap_reasons,
)
