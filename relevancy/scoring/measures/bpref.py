"""Bpref: binary preference, which ignores unjudged documents.

    Bpref = 1/R Σ over the relevant results of (1 − min(n, R) / min(N, R))

R, N: number of known relevant and known non-relevant documents; n: number of non-relevant results ranked above the
result (if n = 0, the term is 1).
Source: Buckley & Voorhees, SIGIR 2004, with the min(N, R) of trec_eval. A grade below 0 counts as unjudged.

Example: grades 1 0 1 – 1 0, further known 0: R = 3, N = 3: (1 + 2/3 + 2/3) / 3 = .777778.
"""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray, divide_or_zero
from relevancy.scoring.bounds.placements import placement_bounds
from relevancy.scoring.definition import REL, Definition, Example, Settings, need_relevant
from relevancy.scoring.measures.latex import relevance_latex
from relevancy.scoring.reasons.by_measure import list_bpref_reasons
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.relevance import build_bpref_working


def compute_bpref(slots: Slots, settings: Settings) -> FloatArray:
    rel = settings.number("rel")
    relevant, nonrelevant = slots.count_known(rel), slots.count_known(0.0, below=rel)
    above = np.cumsum((slots.grades >= 0) & (slots.grades < rel), axis=1)
    penalty = np.minimum(above, relevant[:, None]) / np.maximum(np.minimum(nonrelevant, relevant), 1.0)[:, None]
    return divide_or_zero(np.where(slots.is_relevant(rel), 1.0 - penalty, 0.0).sum(axis=1), relevant)


def bpref_formula(settings: Settings, _k: str) -> str:
    term = r"\left(1 - \frac{\min(n_r, R)}{\min(N, R)}\right)"
    counts = r"R, N \text{ known relevant and non-relevant}, \quad n_r \text{ of the latter above } r"
    total = rf"\text{{Bpref}} = \frac{{1}}{{R}} \sum_{{r}} \text{{rel}}_r {term}"
    return rf"{total}, \quad {counts}" + relevance_latex(settings)


BPREF = Definition(
    "Bpref",
    "Binary preference",
    "How often relevant results are ranked above results judged non-relevant; unrated documents are ignored.",
    compute_bpref,
    (REL,),
    cutoff="none",
    needs=need_relevant,
    bounds=placement_bounds,
    formula=bpref_formula,
    advice="Use it when only some of the results are rated and no more ratings will follow, for instance to evaluate a new "
    "engine with old judgments. It only compares rated documents with each other.",
    pitfall="It says nothing about what users see first: ten unrated documents above the first relevant one cost nothing. "
    "If few documents are judged non-relevant, a single one of them can change it a lot.",
    example=Example("Bpref", (1, 0, 1, None, 1, 0), (0,), "0:1", 0.777778),
    build_working=build_bpref_working,
    list_reasons=list_bpref_reasons,
)
