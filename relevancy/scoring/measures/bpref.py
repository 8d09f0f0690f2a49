"""Bpref: binary preference, which ignores unjudged documents.

    Bpref = 1/R Σ over returned relevant documents of (1 − min(n, R) / min(N, R))

R, N: known relevant and known non-relevant documents; n: non-relevant ones ranked above the document (n = 0: 1).
Source: Buckley & Voorhees, SIGIR 2004, with the min(N, R) of trec_eval. A grade below 0 is unjudged here.

Example: grades 1 0 1 – 1 0, further known 0: R = 3, N = 3: (1 + 2/3 + 2/3) / 3 = .777778.
"""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray, ratio
from relevancy.scoring.bounds.placements import placements
from relevancy.scoring.definition import REL, Definition, Example, Settings
from relevancy.scoring.formulas import relevant_latex
from relevancy.scoring.reasons import of_preference
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.relevance import show_binary_preference


def binary_preference(slots: Slots, settings: Settings) -> FloatArray:
    rel = settings.number("rel")
    relevant, others = slots.known_between(rel), slots.known_between(0.0, rel)
    above = np.cumsum((slots.grades >= 0) & (slots.grades < rel), axis=1)
    penalty = np.minimum(above, relevant[:, None]) / np.maximum(np.minimum(others, relevant), 1.0)[:, None]
    return ratio(np.where(slots.relevant(rel), 1.0 - penalty, 0.0).sum(axis=1), relevant)


def formula(settings: Settings, _k: str) -> str:
    term = r"\left(1 - \frac{\min(n_r, R)}{\min(N, R)}\right)"
    counts = r"R, N \text{ known relevant and not relevant}, \quad n_r \text{ of the latter above } r"
    return rf"\text{{Bpref}} = \frac{{1}}{{R}} \sum_{{r}} \text{{rel}}_r {term}, \quad {counts}" + relevant_latex(
        settings
    )


BPREF = Definition(
    "Bpref",
    "Binary preference",
    "How often relevant results stand above those judged not relevant; unrated documents are left out of account.",
    binary_preference,
    (REL,),
    cutoff="none",
    needs=lambda _settings: "relevant",
    bounds=placements,
    formula=formula,
    advice="Use it when only part of the results is rated and that will not change, such as with old judgements and a "
    "new engine. It compares rated documents with each other and lets the others be.",
    pitfall="It says nothing about what readers see first: ten unrated documents above the first relevant one cost "
    "nothing. With few documents judged not relevant, a single one of them above moves it a lot.",
    example=Example("Bpref", (1, 0, 1, None, 1, 0), (0,), "0:1", 0.777778),
    working=show_binary_preference,
    reasons=of_preference,
)
