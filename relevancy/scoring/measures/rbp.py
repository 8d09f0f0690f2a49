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
from relevancy.scoring.definition import REL, UNRATED, Definition, Parameter, Settings
from relevancy.scoring.slots import Slots

PATIENCE = Parameter(
    "p", "Patience", "probability that the reader goes on to the next result", 0.8, maximum=1.0, open_interval=True
)


def rank_biased_precision(slots: Slots, settings: Settings) -> FloatArray:
    p = settings.number("p")
    hits = slots.relevant(settings.number("rel"))
    return np.asarray((hits * ((1.0 - p) * p ** (slots.ranks - 1.0))).sum(axis=1), dtype=np.float64)


RBP = Definition(
    "RBP",
    "Rank-biased precision",
    "Share of relevant documents among those that a reader of a given patience looks at.",
    rank_biased_precision,
    (PATIENCE, REL, UNRATED),
    bounds=extremes,
)
