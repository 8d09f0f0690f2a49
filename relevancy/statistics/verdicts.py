"""What a comparison of two runs says, by fixed rules."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from relevancy.statistics.corrections import ALPHA
from relevancy.statistics.differences import Differences
from relevancy.statistics.generators import SEED
from relevancy.statistics.intervals import RESAMPLES, Interval, find_interval, t_test
from relevancy.statistics.power import detectable_difference
from relevancy.statistics.randomisation import PERMUTATIONS, randomisation_test

EQUIVALENCE_MARGIN = 1.0  # points: smaller differences do not matter, unless the case says otherwise


class Verdict(StrEnum):
    """Whether run B is better than run A."""

    BETTER = "better"
    WORSE = "worse"
    EQUAL = "practically equal"
    UNDECIDED = "no difference that this many queries can show"
    TOO_FEW = "too few queries"


@dataclass(frozen=True)
class PairedComparison:
    """Figures of run B against run A over the queries that were scored in both.

    differences: of the queries, or of units of linked queries, in points. Every other figure is one of these.
    p, t, p_t: of the randomisation test and the paired t test; None if they cannot be computed.
    interval: 95 %, in points.
    carriers: positions of the differences that carry 80 % of the difference, largest first.
    detectable: the smallest true difference that so many queries find four times in five, in points; None if the differences do not
        vary. Of weighted differences it follows from the standard error of their mean, as the interval does.
    """

    differences: Differences
    p: float | None
    t: float | None
    p_t: float | None
    interval: Interval | None
    carriers: list[int]
    detectable: float | None

    def decide(self, p: float | None = None, margin: float = EQUIVALENCE_MARGIN) -> Verdict:
        """Returns the verdict.

        p: the corrected p if several runs are compared, otherwise that of the randomisation test.
        margin: differences within ± margin do not matter, in points.

        Practically equal: the interval is reliable and lies within the margin, whatever p is. Better or worse: p below .05.
        """
        tested = self.p if p is None else p
        if self.interval is None or tested is None:
            return Verdict.TOO_FEW
        if self.interval.is_reliable and -margin <= self.interval.low and self.interval.high <= margin:
            return Verdict.EQUAL
        if tested >= ALPHA:
            return Verdict.UNDECIDED
        return Verdict.BETTER if self.differences.mean > 0 else Verdict.WORSE


def compare_paired(
    differences: Differences, *, permutations: int = PERMUTATIONS, resamples: int = RESAMPLES, seed: int = SEED
) -> PairedComparison:
    """Computes all figures of two runs. The same differences and seed give the same figures everywhere."""
    t, p_t = t_test(differences) or (None, None)
    error = differences.standard_error
    return PairedComparison(
        differences=differences,
        p=randomisation_test(differences, permutations=permutations, seed=seed),
        t=t,
        p_t=p_t,
        interval=find_interval(differences, resamples=resamples, seed=seed),
        carriers=differences.list_carriers(),
        detectable=detectable_difference(error * math.sqrt(len(differences)), len(differences)) if error else None,
    )
