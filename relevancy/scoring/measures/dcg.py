"""CG and DCG: cumulated gain, without and with a discount by rank.

    CG@k = Σ gain(g_r)        DCG@k = Σ gain(g_r) · discount(r),   r = 1 … k

Source: Järvelin & Kekäläinen, TOIS 20(4), 2002. Without @k: all results displayed. Neither has an upper limit of its
own; the score is the percentage of what k documents of the top grade would give.

Example: grades 3 2 3 0 1 2: `DCG(gain='linear')@6` = 6.861127, `DCG@6` = 13.848264.
"""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray
from relevancy.scoring.bounds.placements import extreme_bounds
from relevancy.scoring.definition import UNRATED, Definition, Example, Settings
from relevancy.scoring.measures.gains import (
    DISCOUNT,
    GAIN,
    compute_discounts,
    compute_gain,
    compute_gains,
    sum_discounted_gains,
)
from relevancy.scoring.measures.latex import discounted_gain_latex, gain_latex, left_side, skipping_latex
from relevancy.scoring.reasons.by_measure import list_cg_reasons, list_dcg_reasons
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.cumulated_gain import build_cg_working, build_dcg_working


def compute_cg(slots: Slots, settings: Settings) -> FloatArray:
    return np.asarray(compute_gains(slots.grades, settings.choice("gain")).sum(axis=1), dtype=np.float64)


def compute_dcg(slots: Slots, settings: Settings) -> FloatArray:
    return sum_discounted_gains(slots.grades, settings.choice("gain"), settings.choice("discount"))


def cg_to_scores(values: FloatArray, slots: Slots, settings: Settings) -> FloatArray:
    """Returns percentage of the gain of k documents of the top grade."""
    top_gain = compute_gain(slots.scale.top, settings.choice("gain"))
    return _limit_to_100(100.0 * values / (slots.k * top_gain))


def dcg_to_scores(values: FloatArray, slots: Slots, settings: Settings) -> FloatArray:
    """Returns percentage of the discounted gain of k documents of the top grade."""
    top_gain = compute_gain(slots.scale.top, settings.choice("gain"))
    return _limit_to_100(100.0 * values / (compute_discounts(settings.choice("discount"), slots.k).sum() * top_gain))


def _limit_to_100(scores: FloatArray) -> FloatArray:
    """Limits scores to 100: rounding errors can put a perfect list slightly above 100."""
    return np.minimum(scores, 100.0)


def cg_formula(settings: Settings, k: str) -> str:
    gain = gain_latex(settings)
    term = rf"\left({gain}\right)" if settings.choice("gain") == "exp" else gain
    return left_side("CG", k) + rf"\sum_{{r=1}}^{{{k}}} {term}" + skipping_latex(settings)


def dcg_formula(settings: Settings, k: str) -> str:
    total = rf"\sum_{{r=1}}^{{{k}}} {discounted_gain_latex(settings)}"
    return left_side("DCG", k) + total + skipping_latex(settings)


CG = Definition(
    "CG",
    "Cumulated gain",
    "The total gain of the first k results, regardless of their order.",
    compute_cg,
    (GAIN, UNRATED),
    bounds=extreme_bounds,
    to_scores=cg_to_scores,
    formula=cg_formula,
    advice="Use it when users see all k results at once, such as a page of tiles, or for the candidates that a second "
    "stage reranks: it measures how good they are, not where they are.",
    pitfall="It does not change when the best document drops from rank 1 to rank k. Queries with few good documents can "
    "never score high, so compare a query with its own earlier scores, not with other queries.",
    example=Example("CG(gain='linear')@6", (3, 2, 3, 0, 1, 2), (), "0:3", 11.0),
    build_working=build_cg_working,
    list_reasons=list_cg_reasons,
)
DCG = Definition(
    "DCG",
    "Discounted cumulated gain",
    "The total gain of the first k results; the lower a result is ranked, the less it counts.",
    compute_dcg,
    (GAIN, DISCOUNT, UNRATED),
    bounds=extreme_bounds,
    to_scores=dcg_to_scores,
    formula=dcg_formula,
    advice="Use it to follow one query over time with graded ratings: it rises with every better document and every "
    "better rank, and it does not change when a document that was not returned is rated.",
    pitfall="Scores of different queries cannot be compared: they are percentages of k documents of the top grade, which "
    "most queries do not have. A mean over queries is dominated by those with many good documents.",
    example=Example("DCG@6", (3, 2, 3, 0, 1, 2), (), "0:3", 13.848264),
    build_working=build_dcg_working,
    list_reasons=list_dcg_reasons,
)
