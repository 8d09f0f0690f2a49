"""nDCG: discounted cumulated gain as a share of the best that was possible.

    nDCG@k = DCG@k / DCG of the ideal list

Source: Järvelin & Kekäläinen, TOIS 20(4), 2002. The ideal list: 'global', the best k of all known grades; 'local',
the first k returned, reordered; 'recall', the best k of everything returned; 'max', k documents of the top grade
(without @k: as many as were returned); 'uncut', all known grades, not cut at k.

Example: grades 3 2 3 0 1 2, known 3 3 3 2 2 2 1: `nDCG@6` = .751083, `nDCG(gain='linear')@6` = .785002.
"""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray, ratio
from relevancy.scoring.bounds.extremes import extremes
from relevancy.scoring.bounds.ideal_ratio import ideal_ratio
from relevancy.scoring.definition import UNRATED, Compute, Definition, Needs, Parameter, Settings
from relevancy.scoring.gains import DISCOUNT, GAIN, discounted, discounts, gains
from relevancy.scoring.ideal import ideal_grades
from relevancy.scoring.slots import Slots

IDEAL = Parameter(
    "ideal",
    "Ideal list",
    "what the ranking is compared with",
    "global",
    (
        ("global", "the best k of all known grades"),
        ("local", "the first k results, in the best order"),
        ("recall", "the best k of everything returned"),
        ("max", "k documents of the top grade"),
        ("uncut", "all known grades, not cut at k"),
    ),
)


def ndcg(slots: Slots, settings: Settings) -> FloatArray:
    gain, discount, ideal = settings.choice("gain"), settings.choice("discount"), settings.choice("ideal")
    if ideal == "max":
        sums = np.concatenate(([0.0], np.cumsum(discounts(discount, slots.depth))))
        top = gains(np.array([slots.scale.top]), gain)
        length = np.minimum(slots.held, slots.depth) if slots.at_own_length else np.full(len(slots.grades), slots.depth)
        best, width = top * sums[length.astype(np.int64)], None
        return np.minimum(ratio(discounted(slots.grades, gain, discount, width), best), 1.0)
    ideals = ideal_grades(slots, ideal)
    width = max(ideals.shape[1], slots.grades.shape[1])
    best = discounted(ideals, gain, discount, width)
    return np.minimum(ratio(discounted(slots.grades, gain, discount, width), best), 1.0)


def needs(settings: Settings) -> Needs:
    return "nothing" if settings.choice("ideal") == "max" else "gain"


def bounds(compute: Compute, slots: Slots, settings: Settings) -> tuple[FloatArray, FloatArray]:
    """With a fixed ideal the extremes are the bounds; otherwise ratings move the ideal as well."""
    strategy = extremes if settings.choice("ideal") == "max" else ideal_ratio
    return strategy(compute, slots, settings)


NDCG = Definition(
    "nDCG",
    "Normalised discounted cumulated gain",
    "How close the first k results come to the best possible list.",
    ndcg,
    (GAIN, DISCOUNT, IDEAL, UNRATED),
    needs=needs,
    bounds=bounds,
)
