"""ERR: expected reciprocal rank.

    ERR@k = Σ 1/r · p_r · Π_{i<r} (1 − p_i),   p = (2^g − 1) / 2^top

The reader goes down the list and stops at a document with probability p. `top` is the top grade of the scale.
Source: Chapelle, Metzler, Zhang & Grinspan, CIKM 2009.

Example: grades 3 – 0 1 on 0–3: `ERR@4` = .878906.
"""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray
from relevancy.scoring.bounds.extremes import extremes
from relevancy.scoring.definition import UNRATED, Definition, Example, Settings
from relevancy.scoring.formulas import at_k, skipped_latex
from relevancy.scoring.gains import gains
from relevancy.scoring.reasons import of_stopping
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.stopping import show_expected_reciprocal_rank


def expected_reciprocal_rank(slots: Slots, _settings: Settings) -> FloatArray:
    stops = gains(slots.grades, "exp") / np.exp2(slots.scale.top)
    goes_on = np.cumprod(1.0 - stops, axis=1)
    arrives = np.hstack((np.ones((len(stops), 1)), goes_on[:, :-1]))[:, : stops.shape[1]]
    return np.asarray((stops * arrives / slots.ranks).sum(axis=1), dtype=np.float64)


def formula(settings: Settings, k: str) -> str:
    total = rf"\sum_{{r=1}}^{{{k}}} \frac{{p_r}}{{r}} \prod_{{i=1}}^{{r-1}} (1 - p_i)"
    stops = r", \quad p_r = \frac{2^{g_r} - 1}{2^{g_\text{top}}}"
    return at_k("ERR", k) + total + stops + skipped_latex(settings)


ERR = Definition(
    "ERR",
    "Expected reciprocal rank",
    "How early a reader who stops at the first satisfying result is expected to stop.",
    expected_reciprocal_rank,
    (UNRATED,),
    bounds=extremes,
    formula=formula,
    advice="Use it with graded ratings where one good answer ends the search: a document counts less the more "
    "satisfying those above it are.",
    pitfall="After one top document hardly anything below changes the score, so it cannot tell two lists apart that "
    "begin alike. Even a list of top grades stays below 100, and on long scales such as 1–10 middling grades count almost "
    "nothing.",
    example=Example("ERR@4", (3, None, 0, 1), (), "0:3", 0.878906),
    working=show_expected_reciprocal_rank,
    reasons=of_stopping,
)
