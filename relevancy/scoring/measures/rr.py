"""RR: reciprocal rank of the first relevant result.

    RR@k = 1 / rank of the first relevant document in the first k; 0 if there is none

Source: Kantor & Voorhees, "The TREC-5 confusion track", 1996. Its mean over queries is MRR.

Example: grades 0 0 1: `RR@10` = 1/3.
"""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray
from relevancy.scoring.bounds.placements import extreme_bounds
from relevancy.scoring.definition import REL, UNRATED, Definition, Example, Settings, need_relevant
from relevancy.scoring.measures.latex import left_side, relevance_latex, skipping_latex
from relevancy.scoring.reasons.by_measure import list_rr_reasons
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.relevance import build_rr_working


def compute_rr(slots: Slots, settings: Settings) -> FloatArray:
    is_relevant = slots.is_relevant(settings.number("rel"))
    return np.asarray((is_relevant / slots.ranks).max(axis=1, initial=0.0), dtype=np.float64)


def rr_formula(settings: Settings, k: str) -> str:
    maximum = rf"\max_{{r \le {k}}} \frac{{\text{{rel}}_r}}{{r}}"
    return left_side("RR", k) + maximum + relevance_latex(settings) + skipping_latex(settings)


RR = Definition(
    "RR",
    "Reciprocal rank",
    "How high the first relevant result is ranked: 1 at rank 1, 1/2 at rank 2, 1/3 at rank 3.",
    compute_rr,
    (REL, UNRATED),
    needs=need_relevant,
    bounds=extreme_bounds,
    formula=rr_formula,
    advice="Use it for searches for one known item: a product by its name, a page by its title, the answer to a question.",
    pitfall="It ignores everything after the first relevant result. It falls steeply at the top, from 100 to 50 between "
    "ranks 1 and 2, and hardly at all further down, so a mean over few queries depends on single documents.",
    example=Example("RR@10", (0, 0, 1), (), "0:1", 0.333333),
    build_working=build_rr_working,
    list_reasons=list_rr_reasons,
)
