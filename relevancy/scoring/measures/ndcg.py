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
from relevancy.scoring.definition import UNRATED, Compute, Definition, Example, Needs, Parameter, Settings
from relevancy.scoring.formulas import at_k, discounted_latex, skipped_latex
from relevancy.scoring.gains import DISCOUNT, GAIN, discounted, discounts, gains
from relevancy.scoring.ideal import ideal_grades
from relevancy.scoring.reasons import of_ideal
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.cumulated import show_ndcg

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


_IDEAL_WORDS = {
    "global": "the best {k} of all known grades",
    "local": "the first {k} results, best first",
    "recall": "the best {k} of everything returned",
    "max": "the top grade at every rank",
    "uncut": "all known grades, best first",
}


def formula(settings: Settings, k: str) -> str:
    ideal = settings.choice("ideal")
    length = "n" if ideal == "uncut" or (ideal == "max" and k == "k") else k
    lists = (rf"\sum_{{r=1}}^{{{k}}} {discounted_latex(settings)}",
             rf"\sum_{{r=1}}^{{{length}}} {discounted_latex(settings, 'i_r')}")  # fmt: skip
    words = rf", \quad i_r \text{{: {_IDEAL_WORDS[ideal].format(k=k)}}}"
    many = {"uncut": r", \quad n \text{ known}", "max": r", \quad n \text{ returned}"} if length == "n" else {}
    quotient = rf"\frac{{{lists[0]}}}{{{lists[1]}}}"
    return at_k("nDCG", k) + quotient + words + many.get(ideal, "") + skipped_latex(settings)


NDCG = Definition(
    "nDCG",
    "Normalised discounted cumulated gain",
    "How close the first k results come to the best possible list.",
    ndcg,
    (GAIN, DISCOUNT, IDEAL, UNRATED),
    needs=needs,
    bounds=bounds,
    formula=formula,
    advice="Use it with graded ratings wherever order matters: it is the usual choice for web and shop search, and "
    "comparable between queries, since each is measured against its own best list.",
    pitfall="It says how good the order is, not how good the documents are: one fair document on top of nothing else "
    "scores 100. Rating a good document that was not returned lowers it; with the ideal 'local' such documents do not "
    "count at all.",
    example=Example("nDCG@6", (3, 2, 3, 0, 1, 2), (3, 2), "0:3", 0.751083),
    working=show_ndcg,
    reasons=of_ideal,
)
