"""ERR: expected reciprocal rank.

    ERR@k = Σ 1/r · p_r · Π_{i<r} (1 − p_i),   p = (2^g − 1) / 2^top

The user reads the list from the top and stops at a document with probability p. `top` is the top grade of the scale.
Source: Chapelle, Metzler, Zhang & Grinspan, CIKM 2009.

Example: grades 3 – 0 1 on the scale 0–3: `ERR@4` = .878906.
"""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray
from relevancy.scoring.bounds.placements import extreme_bounds
from relevancy.scoring.definition import UNRATED, Definition, Example, Settings
from relevancy.scoring.measures.gains import compute_gains
from relevancy.scoring.measures.latex import left_side, skipping_latex
from relevancy.scoring.reasons.by_measure import list_err_reasons
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.cumulated_gain import build_err_working


def compute_err(slots: Slots, _settings: Settings) -> FloatArray:
    stops = compute_gains(slots.grades, "exp") / np.exp2(slots.scale.top)
    continues = np.cumprod(1.0 - stops, axis=1)
    reaches = np.hstack((np.ones((len(stops), 1)), continues[:, :-1]))[:, : stops.shape[1]]
    return np.asarray((stops * reaches / slots.ranks).sum(axis=1), dtype=np.float64)


def err_formula(settings: Settings, k: str) -> str:
    total = rf"\sum_{{r=1}}^{{{k}}} \frac{{p_r}}{{r}} \prod_{{i=1}}^{{r-1}} (1 - p_i)"
    stops = r", \quad p_r = \frac{2^{g_r} - 1}{2^{g_\text{top}}}"
    return left_side("ERR", k) + total + stops + skipping_latex(settings)


ERR = Definition(
    "ERR",
    "Expected reciprocal rank",
    "How early a user who stops at the first satisfying result is expected to stop.",
    compute_err,
    (UNRATED,),
    bounds=extreme_bounds,
    formula=err_formula,
    advice="Use it with graded ratings when one good answer ends the search: the more satisfying the documents above a "
    "document are, the less it counts.",
    pitfall="Below a document of the top grade hardly anything changes the score, so it cannot distinguish lists that "
    "start alike. Even a list of top grades stays below 100, and on long scales such as 1–10 medium grades count almost "
    "nothing.",
    example=Example("ERR@4", (3, None, 0, 1), (), "0:3", 0.878906),
    build_working=build_err_working,
    list_reasons=list_err_reasons,
)
