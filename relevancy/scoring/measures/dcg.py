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
from relevancy.scoring.definition import UNRATED, Definition, Settings
from relevancy.scoring.gains import DISCOUNT, GAIN, discounted, discounts, gains
from relevancy.scoring.slots import Slots


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


CG = Definition(
    "CG",
    "Cumulated gain",
    "What the first k results are worth together, whatever their order.",
    cg,
    (GAIN, UNRATED),
    bounds=extremes,
    points=cg_points,
)
DCG = Definition(
    "DCG",
    "Discounted cumulated gain",
    "What the first k results are worth together; the lower a result stands, the less it counts.",
    dcg,
    (GAIN, DISCOUNT, UNRATED),
    bounds=extremes,
    points=dcg_points,
)
