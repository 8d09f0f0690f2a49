"""RBP: rank-biased precision.

    RBP@k = (1 − p) Σ p^(r−1) · rel_r

The reader goes from each result to the next with probability p. rel is 1 for relevant documents, else 0.
Source: Moffat & Zobel, TOIS 27(1), 2008.

Example: grades 1 0 1, p = .5: .5 · (1 + .25) = .625.
"""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray
from relevancy.scoring.bounds.extremes import extremes
from relevancy.scoring.definition import REL, UNRATED, Definition, Example, Parameter, Settings
from relevancy.scoring.formulas import at_k, relevant_latex, skipped_latex
from relevancy.scoring.reasons import of_patience
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.relevance import show_rank_biased_precision

PATIENCE = Parameter(
    "p", "Patience", "probability that the reader goes on to the next result", 0.8, maximum=1.0, open_interval=True
)


def rank_biased_precision(slots: Slots, settings: Settings) -> FloatArray:
    p = settings.number("p")
    hits = slots.relevant(settings.number("rel"))
    return np.asarray((hits * ((1.0 - p) * p ** (slots.ranks - 1.0))).sum(axis=1), dtype=np.float64)


def formula(settings: Settings, k: str) -> str:
    p = f"{settings.number('p'):g}"
    total = rf"(1 - {p}) \sum_{{r=1}}^{{{k}}} {p}^{{r-1}} \cdot \text{{rel}}_r"
    return at_k("RBP", k) + total + relevant_latex(settings) + skipped_latex(settings)


RBP = Definition(
    "RBP",
    "Rank-biased precision",
    "Share of relevant documents among those that a reader of a given patience looks at.",
    rank_biased_precision,
    (PATIENCE, REL, UNRATED),
    bounds=extremes,
    formula=formula,
    advice="Use it to compare queries that have different numbers of relevant documents: it needs none of the unseen "
    "ones. Choose p for your readers: about 0.5 for those who look at two results, 0.8 for five, 0.95 for twenty.",
    pitfall="p decides more than the engine does: results with different p cannot be compared. Cut at k, even a list of "
    "relevant documents stays below 100 (89.3 at k = 10 and p = 0.8).",
    example=Example("RBP(p=0.5)@3", (1, 0, 1), (), "0:1", 0.625),
    working=show_rank_biased_precision,
    reasons=of_patience,
)
