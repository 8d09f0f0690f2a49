"""RR: reciprocal rank of the first relevant result.

    RR@k = 1 / rank of the first relevant document among the first k; 0 where there is none

Source: Kantor & Voorhees, "The TREC-5 confusion track", 1996 (its mean is MRR).

Example: grades 0 0 1: `RR@10` = 1/3.
"""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray
from relevancy.scoring.bounds.extremes import extremes
from relevancy.scoring.definition import REL, UNRATED, Definition, Example, Settings
from relevancy.scoring.formulas import at_k, relevant_latex, skipped_latex
from relevancy.scoring.reasons import of_first_relevant
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.relevance import show_reciprocal_rank


def reciprocal_rank(slots: Slots, settings: Settings) -> FloatArray:
    hits = slots.relevant(settings.number("rel"))
    return np.asarray((hits / slots.ranks).max(axis=1, initial=0.0), dtype=np.float64)


def formula(settings: Settings, k: str) -> str:
    best = rf"\max_{{r \le {k}}} \frac{{\text{{rel}}_r}}{{r}}"
    return at_k("RR", k) + best + relevant_latex(settings) + skipped_latex(settings)


RR = Definition(
    "RR",
    "Reciprocal rank",
    "How high the first relevant result stands: 1 at rank 1, 1/2 at rank 2, 1/3 at rank 3.",
    reciprocal_rank,
    (REL, UNRATED),
    needs=lambda _settings: "relevant",
    bounds=extremes,
    formula=formula,
    advice="Use it for searches that look for one known thing: a product by its name, a page by its title, an answer to a "
    "question.",
    pitfall="Blind to everything after the first relevant result. It falls steeply at the top, from 100 to 50 between "
    "ranks 1 and 2, and hardly at all further down, so a mean over few queries swings with single documents.",
    example=Example("RR@10", (0, 0, 1), (), "0:1", 0.333333),
    working=show_reciprocal_rank,
    reasons=of_first_relevant,
)
