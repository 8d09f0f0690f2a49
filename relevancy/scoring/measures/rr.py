"""RR: reciprocal rank of the first relevant result.

    RR@k = 1 / rank of the first relevant document among the first k; 0 where there is none

Source: Kantor & Voorhees, "The TREC-5 confusion track", 1996 (its mean is MRR).

Example: grades 0 0 1: `RR@10` = 1/3.
"""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray
from relevancy.scoring.bounds.extremes import extremes
from relevancy.scoring.definition import REL, UNRATED, Definition, Settings
from relevancy.scoring.slots import Slots


def reciprocal_rank(slots: Slots, settings: Settings) -> FloatArray:
    hits = slots.relevant(settings.number("rel"))
    return np.asarray((hits / slots.ranks).max(axis=1, initial=0.0), dtype=np.float64)


RR = Definition(
    "RR",
    "Reciprocal rank",
    "How high the first relevant result stands: 1 at rank 1, 1/2 at rank 2, 1/3 at rank 3.",
    reciprocal_rank,
    (REL, UNRATED),
    needs=lambda _settings: "relevant",
    bounds=extremes,
)
