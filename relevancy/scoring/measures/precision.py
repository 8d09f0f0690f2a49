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
from relevancy.scoring.definition import REL, UNRATED, Definition, Example, Parameter, Settings
from relevancy.scoring.formulas import at_k, relevant_latex, skipped_latex
from relevancy.scoring.reasons import of_found, of_share, of_success
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.relevance import show_precision, show_recall, show_success

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


def precision_formula(settings: Settings, k: str) -> str:
    by_k = settings.choice("denominator") == "k"
    whole, words = (k, "") if by_k else (rf"\min({k}, n)", r", \quad n \text{ returned}")
    return at_k("P", k) + rf"\frac{{1}}{{{whole}}} " + _summed(k) + words + _conditions(settings)


def recall_formula(settings: Settings, k: str) -> str:
    known = r", \quad R \text{ known relevant documents}"
    return at_k("R", k) + r"\frac{1}{R} " + _summed(k) + known + _conditions(settings)


def success_formula(settings: Settings, k: str) -> str:
    return at_k("Success", k) + rf"\max(\text{{rel}}_1, \ldots, \text{{rel}}_{{{k}}})" + _conditions(settings)


def _summed(k: str) -> str:
    return rf"\sum_{{r=1}}^{{{k}}} \text{{rel}}_r"


def _conditions(settings: Settings) -> str:
    return relevant_latex(settings) + skipped_latex(settings)


P = Definition(
    "P",
    "Precision",
    "Share of relevant documents among the first k results.",
    precision,
    (REL, DENOMINATOR, UNRATED),
    cutoff="required",
    bounds=extremes,
    formula=precision_formula,
    advice="Use it when you have to explain the number: three of ten results are good, 30 per cent. It suits pages whose "
    "results are all seen.",
    pitfall="Order within the first k does not count, nor does how good a relevant document is. A query that has only "
    "two relevant documents cannot score more than 20 at k = 10.",
    example=Example("P@4", (1, 0, 1, 0, 1), (), "0:1", 0.5),
    working=show_precision,
    reasons=of_share,
)
R = Definition(
    "R",
    "Recall",
    "Share of the known relevant documents that stand among the first k results.",
    recall,
    (REL, UNRATED),
    needs=lambda _settings: "relevant",
    bounds=extremes,
    formula=recall_formula,
    advice="Use it for the first stage of a search with several, or where nothing relevant may be missed: it asks how "
    "much of what is known to be relevant came through.",
    pitfall="It depends on what has been rated: whoever rates only what an engine returned gives that engine a recall of "
    "100. With more than k relevant documents it cannot reach 100, and order does not count.",
    example=Example("R@3", (1, 0, 1, 0, 1), (), "0:1", 0.666667),
    working=show_recall,
    reasons=of_found,
)
SUCCESS = Definition(
    "Success",
    "Success",
    "Whether at least one of the first k results is relevant.",
    success,
    (REL, UNRATED),
    needs=lambda _settings: "relevant",
    bounds=extremes,
    formula=success_formula,
    advice="Use it for navigation and questions with one answer: the share of queries that find any good document among "
    "the first k is easy to grasp.",
    pitfall="Each query is all or nothing, so differences between engines need many queries to show. Rank 1 and rank k "
    "count the same.",
    example=Example("Success@3", (0, None, 1, 0), (), "0:1", 1.0),
    working=show_success,
    reasons=of_success,
)
