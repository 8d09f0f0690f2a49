"""P, R and Success: what the first k results hold of the relevant documents.

    P@k = relevant in the first k / k        R@k = relevant in the first k / all known relevant
    Success@k = 1 if one of the first k is relevant, else 0

Source: Cleverdon & Keen, "Factors determining the performance of indexing systems", 1966; Success@k: Craswell &
Hawking, TREC 2004. `P(denominator='returned')` divides by the number of documents among the first k, at most k.

Example: relevant – relevant – relevant (3 known): `P@3` = 2/3, `P@4` = 2/4, `P@5` = 3/5.
"""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray, ratio
from relevancy.scoring.bounds.extremes import extremes
from relevancy.scoring.definition import REL, UNRATED, Definition, Parameter, Settings
from relevancy.scoring.slots import Slots

DENOMINATOR = Parameter(
    "denominator",
    "Divided by",
    "what the relevant documents are counted against",
    "k",
    (("k", "k, also where fewer were returned"), ("returned", "as many of the first k as were returned")),
)


def _hits(slots: Slots, settings: Settings) -> FloatArray:
    return slots.relevant(settings.number("rel")).sum(axis=1, dtype=np.float64)


def precision(slots: Slots, settings: Settings) -> FloatArray:
    by_k = settings.choice("denominator") == "k"
    return ratio(_hits(slots, settings), np.full(len(slots.grades), float(slots.depth)) if by_k else slots.held)


def recall(slots: Slots, settings: Settings) -> FloatArray:
    return ratio(_hits(slots, settings), slots.known_between(settings.number("rel")))


def success(slots: Slots, settings: Settings) -> FloatArray:
    return (_hits(slots, settings) > 0).astype(np.float64)


P = Definition(
    "P",
    "Precision",
    "Share of relevant documents among the first k results.",
    precision,
    (REL, DENOMINATOR, UNRATED),
    cutoff="required",
    bounds=extremes,
)
R = Definition(
    "R",
    "Recall",
    "Share of the known relevant documents that stand among the first k results.",
    recall,
    (REL, UNRATED),
    needs=lambda _settings: "relevant",
    bounds=extremes,
)
SUCCESS = Definition(
    "Success",
    "Success",
    "Whether at least one of the first k results is relevant.",
    success,
    (REL, UNRATED),
    needs=lambda _settings: "relevant",
    bounds=extremes,
)
