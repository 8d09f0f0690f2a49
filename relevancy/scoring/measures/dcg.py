"""CG and DCG: cumulated gain, plain and discounted by rank.

    CG@k = Σ gain(g_r)        DCG@k = Σ gain(g_r) · discount(r),   r = 1 … k

Source: Järvelin & Kekäläinen, TOIS 20(4), 2002. Without @k: as many ranks as are shown. Neither has a ceiling of its
own: as a score, it is the per cent of what k documents of the top grade would give.

Example: grades 3 2 3 0 1 2: `DCG(gain='linear')@6` = 6.861127, `DCG@6` = 13.848264.
"""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray
from relevancy.scoring.bounds.extremes import extremes
from relevancy.scoring.definition import UNRATED, Definition, Example, Settings
from relevancy.scoring.formulas import at_k, discounted_latex, gain_latex, skipped_latex
from relevancy.scoring.gains import DISCOUNT, GAIN, discounted, discounts, gains
from relevancy.scoring.reasons import of_discounted_gain, of_gain
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.cumulated import show_cg, show_dcg


def cg(slots: Slots, settings: Settings) -> FloatArray:
    return np.asarray(gains(slots.grades, settings.choice("gain")).sum(axis=1), dtype=np.float64)


def dcg(slots: Slots, settings: Settings) -> FloatArray:
    return discounted(slots.grades, settings.choice("gain"), settings.choice("discount"))


def cg_points(values: FloatArray, slots: Slots, settings: Settings) -> FloatArray:
    top = gains(np.array([slots.scale.top]), settings.choice("gain"))
    return _at_most_100(100.0 * values / (slots.depth * top))


def dcg_points(values: FloatArray, slots: Slots, settings: Settings) -> FloatArray:
    top = gains(np.array([slots.scale.top]), settings.choice("gain"))
    return _at_most_100(100.0 * values / (discounts(settings.choice("discount"), slots.depth).sum() * top))


def _at_most_100(scores: FloatArray) -> FloatArray:
    """Rounding can put a perfect list a hair above."""
    return np.minimum(scores, 100.0)


def cg_formula(settings: Settings, k: str) -> str:
    gain = gain_latex(settings)
    term = rf"\left({gain}\right)" if settings.choice("gain") == "exp" else gain
    return at_k("CG", k) + rf"\sum_{{r=1}}^{{{k}}} {term}" + skipped_latex(settings)


def dcg_formula(settings: Settings, k: str) -> str:
    return at_k("DCG", k) + rf"\sum_{{r=1}}^{{{k}}} {discounted_latex(settings)}" + skipped_latex(settings)


CG = Definition(
    "CG",
    "Cumulated gain",
    "What the first k results are worth together, whatever their order.",
    cg,
    (GAIN, UNRATED),
    bounds=extremes,
    points=cg_points,
    formula=cg_formula,
    advice="Use it where all k results are seen at once, such as a page of tiles or the input of a later ranker: it asks "
    "how much of worth is among them, not where.",
    pitfall="It does not notice when the best document drops from rank 1 to rank k. Queries with few good documents can "
    "never score high, so compare a query with itself over time, not with others.",
    example=Example("CG(gain='linear')@6", (3, 2, 3, 0, 1, 2), (), "0:3", 11.0),
    working=show_cg,
    reasons=of_gain,
)
DCG = Definition(
    "DCG",
    "Discounted cumulated gain",
    "What the first k results are worth together; the lower a result stands, the less it counts.",
    dcg,
    (GAIN, DISCOUNT, UNRATED),
    bounds=extremes,
    points=dcg_points,
    formula=dcg_formula,
    advice="Use it to follow one query over time with graded ratings: the sum grows with every better document and every "
    "better place, and it does not move when somebody finds and rates a document that was not returned.",
    pitfall="Not comparable between queries: as a score it is measured against k documents of the top grade, which most "
    "queries do not have. A mean over queries is ruled by those with many good documents.",
    example=Example("DCG@6", (3, 2, 3, 0, 1, 2), (), "0:3", 13.848264),
    working=show_dcg,
    reasons=of_discounted_gain,
)
