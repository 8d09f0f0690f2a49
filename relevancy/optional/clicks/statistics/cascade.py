"""The simplified dynamic Bayesian network (sDBN): users read down, click what attracts them, and stop once they are satisfied.

Users have looked at everything down to their last click, and at everything if they have clicked nothing. Of a pair, with the number of
searches in which it was examined so, clicked, and clicked last,

    attractiveness a = clicks / examined,   satisfaction s = last / clicks,   relevance a · s = last / examined.

Takes a last click for a satisfied user. A user who reads to the end without being satisfied is counted as satisfied by the last click,
so that relevance is overestimated, the more so for documents at the end of lists that satisfy few users.

Source: Chapelle & Zhang, "A dynamic Bayesian network click model for web search ranking", 2009, algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from relevancy.statistics.arrays import FloatArray
from relevancy.statistics.errors import StatisticsError

from .counts import ClickCounts, divide
from .estimates import PRIOR_STRENGTH, ClickEstimates, shrink


@dataclass(frozen=True)
class ExaminationCounts:
    """Counts of pairs at positions in single searches. examined: with `shown` the searches in which users looked at the document.

    last: [m] searches in which it was clicked last, at most `examined.clicks`.
    """

    examined: ClickCounts
    last: FloatArray

    @classmethod
    def build(
        cls,
        *,
        pairs: ArrayLike,
        positions: ArrayLike,
        examined: ArrayLike,
        clicks: ArrayLike,
        last: ArrayLike,
    ) -> Self:
        """Raises `StatisticsError` as `ClickCounts.build` does, and for more last clicks than clicks."""
        counts = ClickCounts.build(pairs=pairs, positions=positions, shown=examined, clicks=clicks)
        ends = np.asarray(last, dtype=np.float64)
        if len(ends) != len(counts.clicks) or not ((ends >= 0) & (ends <= counts.clicks)).all():
            raise StatisticsError("A document cannot be clicked last in more searches than it was clicked in.")
        return cls(counts, ends)


def estimate_by_cascade(counts: ExaminationCounts, *, strength: float = PRIOR_STRENGTH) -> ClickEstimates:
    """Returns a · s, 0 to 1. Evidence: searches in which the document was examined."""
    rows = counts.examined
    evidence = rows.by_pair(rows.shown)
    rates = divide(rows.by_position(counts.last), rows.by_position(rows.shown))
    priors = divide(rows.by_pair(rows.shown * rates[rows.positions - 1]), evidence)
    values, unshrunken = shrink(sums=rows.by_pair(counts.last), evidence=evidence, priors=priors, strength=strength)
    return ClickEstimates(values, unshrunken, priors, evidence)
