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
from relevancy.scoring.definition import REL, Definition, Settings
from relevancy.scoring.slots import Slots


def binary_preference(slots: Slots, settings: Settings) -> FloatArray:
    rel = settings.number("rel")
    relevant, others = slots.known_between(rel), slots.known_between(0.0, rel)
    above = np.cumsum((slots.grades >= 0) & (slots.grades < rel), axis=1)
    penalty = np.minimum(above, relevant[:, None]) / np.maximum(np.minimum(others, relevant), 1.0)[:, None]
    return ratio(np.where(slots.relevant(rel), 1.0 - penalty, 0.0).sum(axis=1), relevant)


BPREF = Definition(
    "Bpref",
    "Binary preference",
    "How often relevant results stand above those judged not relevant; unrated documents are left out of account.",
    binary_preference,
    (REL,),
    cutoff="none",
    needs=lambda _settings: "relevant",
    bounds=placements,
)
