"""AP: average precision.

    AP = Σ P@r at every rank r ≤ k that holds a relevant document / number of known relevant documents

Source: Harman, "Overview of the first TREC conference", 1993; as trec_eval's map and map_cut: always divided by all
known relevant documents, also where they are more than k. Without @k: over all results shown.

Example: relevant – relevant – relevant (3 known): .755556.
"""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray, ratio
from relevancy.scoring.bounds.placements import placements
from relevancy.scoring.definition import REL, UNRATED, Definition, Example, Settings
from relevancy.scoring.formulas import at_k, relevant_latex, skipped_latex
from relevancy.scoring.reasons import of_average_precision
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.relevance import show_average_precision


def average_precision(slots: Slots, settings: Settings) -> FloatArray:
    rel = settings.number("rel")
    relevant = slots.relevant(rel)
    hits = np.cumsum(relevant, axis=1, dtype=np.float64)
    return ratio((relevant * (hits / slots.ranks)).sum(axis=1), slots.known_between(rel))


def formula(settings: Settings, k: str) -> str:
    hits = r"\frac{\text{rel}_1 + \ldots + \text{rel}_r}{r}"
    known = r", \quad R \text{ known relevant documents}"
    total = rf"\frac{{1}}{{R}} \sum_{{r=1}}^{{{k}}} \text{{rel}}_r \cdot {hits}"
    return at_k("AP", k) + total + known + relevant_latex(settings) + skipped_latex(settings)


AP = Definition(
    "AP",
    "Average precision",
    "Precision at the rank of each relevant result, averaged over all known relevant documents.",
    average_precision,
    (REL, UNRATED),
    needs=lambda _settings: "relevant",
    bounds=placements,
    formula=formula,
    advice="Use it when the judgements are complete and a reader may want every relevant document, such as in research "
    "or legal search. It rewards both finding them and ranking them early, and it is the classic of the field.",
    pitfall="Relevant documents that nobody has rated are missing from the sum and from the divisor, so sparse "
    "judgements make it arbitrary. It knows relevant and not relevant only: a perfect document counts as a fair one.",
    example=Example("AP", (1, 0, 1, 0, 1), (), "0:1", 0.755556),
    working=show_average_precision,
    reasons=of_average_precision,
)
