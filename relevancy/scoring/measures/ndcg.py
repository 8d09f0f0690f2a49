"""nDCG: discounted cumulated gain as a share of the best possible.

    nDCG@k = DCG@k / DCG of the ideal list

Source: Järvelin & Kekäläinen, TOIS 20(4), 2002. The ideal list: 'global', the best k of all known grades; 'local', the
first k results in the best order; 'recall', the best k of everything returned; 'max', k documents of the top grade
(without @k: as many as were returned); 'uncut', all known grades, not cut at k.

Example: grades 3 2 3 0 1 2, known 3 3 3 2 2 2 1: `nDCG@6` = .751083, `nDCG(gain='linear')@6` = .785002.
"""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray, divide_or_zero
from relevancy.scoring.bounds.ideal_ratio import ideal_ratio_bounds
from relevancy.scoring.bounds.placements import extreme_bounds
from relevancy.scoring.definition import UNRATED, Compute, Definition, Example, Needs, Parameter, Settings
from relevancy.scoring.measures.gains import (
    DISCOUNT,
    GAIN,
    compute_discounts,
    compute_gain,
    ideal_grades,
    sum_discounted_gains,
)
from relevancy.scoring.measures.latex import discounted_gain_latex, left_side, skipping_latex
from relevancy.scoring.reasons.by_measure import list_ndcg_reasons
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.cumulated_gain import build_ndcg_working

IDEAL = Parameter(
    "ideal",
    "Ideal list",
    "the list that the ranking is compared with",
    "global",
    (
        ("global", "the best k of all known grades"),
        ("local", "the first k results in the best order"),
        ("recall", "the best k of everything returned"),
        ("max", "k documents of the top grade"),
        ("uncut", "all known grades, not cut at k"),
    ),
)


def compute_ndcg(slots: Slots, settings: Settings) -> FloatArray:
    gain, discount, ideal = settings.choice("gain"), settings.choice("discount"), settings.choice("ideal")
    if ideal == "max":
        dcg = sum_discounted_gains(slots.grades, gain, discount)
        # As many documents of the top grade as the cutoff says; without a cutoff, as were returned.
        lengths = np.full(len(dcg), slots.k) if slots.has_cutoff else slots.filled_counts.astype(np.int64)
        running = np.concatenate(([0.0], np.cumsum(compute_discounts(discount, slots.k))))
        return np.minimum(divide_or_zero(dcg, compute_gain(slots.scale.top, gain) * running[lengths]), 1.0)
    ideals = ideal_grades(slots, ideal)
    width = max(ideals.shape[1], slots.grades.shape[1])
    ideal_dcg = sum_discounted_gains(ideals, gain, discount, width)
    return np.minimum(divide_or_zero(sum_discounted_gains(slots.grades, gain, discount, width), ideal_dcg), 1.0)


def ndcg_needs(settings: Settings) -> Needs:
    return "nothing" if settings.choice("ideal") == "max" else "gain"


def ndcg_bounds(compute: Compute, slots: Slots, settings: Settings) -> tuple[FloatArray, FloatArray]:
    """Chooses how bounds are computed: with ideal='max' ratings do not change the ideal list; with the others they do."""
    bounds = extreme_bounds if settings.choice("ideal") == "max" else ideal_ratio_bounds
    return bounds(compute, slots, settings)


_IDEAL_TEXTS = {
    "global": "the best {k} of all known grades",
    "local": "the first {k} results, best first",
    "recall": "the best {k} of everything returned",
    "max": "the top grade at every rank",
    "uncut": "all known grades, best first",
}


def ndcg_formula(settings: Settings, k: str) -> str:
    ideal = settings.choice("ideal")
    length = "n" if ideal == "uncut" or (ideal == "max" and k == "k") else k
    dcg = rf"\sum_{{r=1}}^{{{k}}} {discounted_gain_latex(settings)}"
    ideal_dcg = rf"\sum_{{r=1}}^{{{length}}} {discounted_gain_latex(settings, 'i_r')}"
    meaning_of_i = rf", \quad i_r \text{{: {_IDEAL_TEXTS[ideal].format(k=k)}}}"
    meanings_of_n = {"uncut": r", \quad n \text{ known}", "max": r", \quad n \text{ returned}"}
    meaning_of_n = meanings_of_n[ideal] if length == "n" else ""
    fraction = rf"\frac{{{dcg}}}{{{ideal_dcg}}}"
    return left_side("nDCG", k) + fraction + meaning_of_i + meaning_of_n + skipping_latex(settings)


NDCG = Definition(
    "nDCG",
    "Normalized discounted cumulated gain",
    "How close the first k results come to the best possible list.",
    compute_ndcg,
    (GAIN, DISCOUNT, IDEAL, UNRATED),
    needs=ndcg_needs,
    bounds=ndcg_bounds,
    formula=ndcg_formula,
    advice="Use it with graded ratings wherever order matters. It is the usual choice for web and shop search, and scores "
    "of different queries can be compared, because each query is compared with its own best list.",
    pitfall="It measures how good the order is, not how good the documents are: if a single fair document is known, having "
    "it at rank 1 scores 100. Rating a good document that was not returned lowers the score; with ideal='local' such "
    "documents do not count at all.",
    example=Example("nDCG@6", (3, 2, 3, 0, 1, 2), (3, 2), "0:3", 0.751083),
    build_working=build_ndcg_working,
    list_reasons=list_ndcg_reasons,
)
