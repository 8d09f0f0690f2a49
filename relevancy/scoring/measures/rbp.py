"""RBP: rank-biased precision.

    RBP@k = (1 − p) Σ p^(r−1) · rel_r

The user goes from each result to the next with probability p. rel is 1 for relevant documents, else 0.
Source: Moffat & Zobel, TOIS 27(1), 2008.

Example: grades 1 0 1, p = .5: .5 · (1 + .25) = .625.
"""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray
from relevancy.scoring.bounds.placements import extreme_bounds
from relevancy.scoring.definition import REL, UNRATED, Definition, Example, Parameter, Settings
from relevancy.scoring.measures.latex import left_side, relevance_latex, skipping_latex
from relevancy.scoring.reasons.by_measure import list_rbp_reasons
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.relevance import build_rbp_working

PERSISTENCE = Parameter(
    "p",
    "Persistence",
    "probability that the user goes on to the next result",
    0.8,
    maximum=1.0,
    excludes_limits=True,
)


def compute_rbp(slots: Slots, settings: Settings) -> FloatArray:
    p = settings.number("p")
    weights = (1.0 - p) * p ** (slots.ranks - 1.0)
    return np.asarray((slots.is_relevant(settings.number("rel")) * weights).sum(axis=1), dtype=np.float64)


def rbp_formula(settings: Settings, k: str) -> str:
    p = f"{settings.number('p'):g}"
    total = rf"(1 - {p}) \sum_{{r=1}}^{{{k}}} {p}^{{r-1}} \cdot \text{{rel}}_r"
    return left_side("RBP", k) + total + relevance_latex(settings) + skipping_latex(settings)


RBP = Definition(
    "RBP",
    "Rank-biased precision",
    "The share of relevant documents among those that a user of a given persistence looks at.",
    compute_rbp,
    (PERSISTENCE, REL, UNRATED),
    bounds=extreme_bounds,
    formula=rbp_formula,
    advice="Use it to compare queries that have different numbers of relevant documents: it does not need to know those "
    "that were not returned. Choose p for your users: about 0.5 if they look at two results, 0.8 for five, 0.95 for "
    "twenty.",
    pitfall="p can matter more than the engine: values with different p cannot be compared. With a cutoff even a list of "
    "relevant documents stays below 100 (89.3 at k = 10 and p = 0.8).",
    example=Example("RBP(p=0.5)@3", (1, 0, 1), (), "0:1", 0.625),
    build_working=build_rbp_working,
    list_reasons=list_rbp_reasons,
)
