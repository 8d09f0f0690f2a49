"""P, R and Success: how many of the first k results are relevant.

    P@k = relevant in the first k / k        R@k = relevant in the first k / all known relevant
    Success@k = 1 if any of the first k is relevant, else 0

Source: Cleverdon & Keen, "Factors determining the performance of indexing systems", 1966; Success@k: Craswell &
Hawking, TREC 2004. `P(denominator='returned')` divides by min(k, returned).

Example: relevant – relevant – relevant (3 known): `P@3` = 2/3, `P@4` = 2/4, `P@5` = 3/5.
"""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray, divide_or_zero
from relevancy.scoring.bounds.placements import extreme_bounds
from relevancy.scoring.definition import REL, UNRATED, Definition, Example, Parameter, Settings, need_relevant
from relevancy.scoring.measures.latex import left_side, relevance_latex, skipping_latex
from relevancy.scoring.reasons.by_measure import list_precision_reasons, list_recall_reasons, list_success_reasons
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.relevance import build_precision_working, build_recall_working, build_success_working

DENOMINATOR = Parameter(
    "denominator",
    "Divided by",
    "the number that the relevant results are divided by",
    "k",
    (("k", "k, even if fewer results were returned"), ("returned", "the number of results returned, at most k")),
)


def _count_hits(slots: Slots, settings: Settings) -> FloatArray:
    return slots.is_relevant(settings.number("rel")).sum(axis=1, dtype=np.float64)


def compute_precision(slots: Slots, settings: Settings) -> FloatArray:
    divides_by_k = settings.choice("denominator") == "k"
    denominator = np.full(len(slots.grades), float(slots.k)) if divides_by_k else slots.filled_counts
    return divide_or_zero(_count_hits(slots, settings), denominator)


def compute_recall(slots: Slots, settings: Settings) -> FloatArray:
    return divide_or_zero(_count_hits(slots, settings), slots.count_known(settings.number("rel")))


def compute_success(slots: Slots, settings: Settings) -> FloatArray:
    return (_count_hits(slots, settings) > 0).astype(np.float64)


def precision_formula(settings: Settings, k: str) -> str:
    divides_by_k = settings.choice("denominator") == "k"
    denominator, note = (k, "") if divides_by_k else (rf"\min({k}, n)", r", \quad n \text{ returned}")
    fraction = rf"\frac{{1}}{{{denominator}}} "
    return left_side("P", k) + fraction + _sum_latex(k) + note + relevance_latex(settings) + skipping_latex(settings)


def recall_formula(settings: Settings, k: str) -> str:
    note = r", \quad R \text{ known relevant documents}"
    total = r"\frac{1}{R} " + _sum_latex(k)
    return left_side("R", k) + total + note + relevance_latex(settings) + skipping_latex(settings)


def success_formula(settings: Settings, k: str) -> str:
    maximum = rf"\max(\text{{rel}}_1, \ldots, \text{{rel}}_{{{k}}})"
    return left_side("Success", k) + maximum + relevance_latex(settings) + skipping_latex(settings)


def _sum_latex(k: str) -> str:
    return rf"\sum_{{r=1}}^{{{k}}} \text{{rel}}_r"


P = Definition(
    "P",
    "Precision",
    "The share of relevant documents in the first k results.",
    compute_precision,
    (REL, DENOMINATOR, UNRATED),
    cutoff="required",
    bounds=extreme_bounds,
    formula=precision_formula,
    advice="Use it when you have to explain the number: three of ten results are good, 30 percent. It suits pages whose "
    "results are all seen.",
    pitfall="The order within the first k does not count, nor does how good a relevant document is. A query with only two "
    "relevant documents cannot score more than 20 at k = 10.",
    example=Example("P@4", (1, 0, 1, 0, 1), (), "0:1", 0.5),
    build_working=build_precision_working,
    list_reasons=list_precision_reasons,
)
R = Definition(
    "R",
    "Recall",
    "The share of the known relevant documents that are in the first k results.",
    compute_recall,
    (REL, UNRATED),
    needs=need_relevant,
    bounds=extreme_bounds,
    formula=recall_formula,
    advice="Use it for the first stage of a search with several stages, or when no relevant document may be missed: it "
    "measures how many of the known relevant documents were found.",
    pitfall="It depends on what has been rated: if only the results of one engine are rated, that engine has a recall of "
    "100. If more than k relevant documents are known, it cannot reach 100, and order does not count.",
    example=Example("R@3", (1, 0, 1, 0, 1), (), "0:1", 0.666667),
    build_working=build_recall_working,
    list_reasons=list_recall_reasons,
)
SUCCESS = Definition(
    "Success",
    "Success",
    "Whether at least one of the first k results is relevant.",
    compute_success,
    (REL, UNRATED),
    needs=need_relevant,
    bounds=extreme_bounds,
    formula=success_formula,
    advice="Use it for navigation and for questions with one answer: the share of queries with any good result in the "
    "first k is easy to understand.",
    pitfall="Each query is all or nothing, so it takes many queries to show a difference between engines. Rank 1 and rank "
    "k count the same.",
    example=Example("Success@3", (0, None, 1, 0), (), "0:1", 1.0),
    build_working=build_success_working,
    list_reasons=list_success_reasons,
)
