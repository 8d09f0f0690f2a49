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
from relevancy.scoring.definition import REL, UNRATED, Definition, Settings
from relevancy.scoring.slots import Slots


def average_precision(slots: Slots, settings: Settings) -> FloatArray:
    rel = settings.number("rel")
    relevant = slots.relevant(rel)
    hits = np.cumsum(relevant, axis=1, dtype=np.float64)
    return ratio((relevant * (hits / slots.ranks)).sum(axis=1), slots.known_between(rel))


AP = Definition(
    "AP",
    "Average precision",
    "Precision at the rank of each relevant result, averaged over all known relevant documents.",
    average_precision,
    (REL, UNRATED),
    needs=lambda _settings: "relevant",
    bounds=placements,
)
