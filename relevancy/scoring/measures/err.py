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
from relevancy.scoring.definition import UNRATED, Definition, Settings
from relevancy.scoring.gains import gains
from relevancy.scoring.slots import Slots


def expected_reciprocal_rank(slots: Slots, _settings: Settings) -> FloatArray:
    stops = gains(slots.grades, "exp") / np.exp2(slots.scale.top)
    goes_on = np.cumprod(1.0 - stops, axis=1)
    arrives = np.hstack((np.ones((len(stops), 1)), goes_on[:, :-1]))[:, : stops.shape[1]]
    return np.asarray((stops * arrives / slots.ranks).sum(axis=1), dtype=np.float64)


ERR = Definition(
    "ERR",
    "Expected reciprocal rank",
    "How early a reader who stops at the first satisfying result is expected to stop.",
    expected_reciprocal_rank,
    (UNRATED,),
    bounds=extremes,
)
