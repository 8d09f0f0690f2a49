"""What a comparison of two runs says, by fixed rules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from relevancy.statistics.corrections import ALPHA, correct_holm, list_too_few
from relevancy.statistics.differences import Differences
from relevancy.statistics.generators import SEED
from relevancy.statistics.intervals import Interval, find_interval, t_test
from relevancy.statistics.power import detectable_difference
from relevancy.statistics.randomisation import PERMUTATIONS, flip_signs

EQUIVALENCE_MARGIN = 1.0  # points: smaller differences do not matter, unless the case says otherwise


class Verdict(StrEnum):
    """Whether run B is better than run A."""

    BETTER = "better"
    WORSE = "worse"
    EQUAL = "practically equal"
    SAME = "scored the same"
    UNRATED = "too little is rated to say"
    UNDECIDED = "no difference that this many queries can show"
    TOO_FEW = "too few queries to tell"


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

    def decide(
        self,
        p: float | None = None,
        *,
        is_too_few: bool | None = None,
        possible: tuple[float, float] | None = None,
        margin: float = EQUIVALENCE_MARGIN,
    ) -> Verdict:
        """Returns the verdict.

        p: the corrected p if several runs are compared, otherwise that of the randomisation test.
        is_too_few: of `list_too_few` for all tests that p is corrected for; None if there is no other.
        possible: from where to where the difference can move once everything is rated and compared, in points; None if that is
            not known.
        margin: differences within ± margin do not matter, in points.

        Too few: p can never be below .05. Practically equal: the interval is reliable and lies within the margin, whatever p is.
        Scored the same: no query differs. Both become “too little is rated” if what is possible leaves the margin. Better or
        worse: p below .05.
        """
        tested = self.p if p is None else p
        if is_too_few is None:
            is_too_few = list_too_few([len(self.differences)])[0]
        if self.interval is None or tested is None or is_too_few:
            return Verdict.TOO_FEW
        is_equal = self.interval.is_reliable and -margin <= self.interval.low and self.interval.high <= margin
        if is_equal or self.differences.are_zero:
            if possible is not None and not (-margin - 1e-9 <= possible[0] and possible[1] <= margin + 1e-9):
                return Verdict.UNRATED
            return Verdict.SAME if self.differences.are_zero else Verdict.EQUAL
        if tested >= ALPHA:
            return Verdict.UNDECIDED
        return Verdict.BETTER if self.differences.mean > 0 else Verdict.WORSE


def compare_paired(differences: Differences, *, permutations: int = PERMUTATIONS, seed: int = SEED) -> PairedComparison:
    """Computes all figures of two runs. The same differences and seed give the same figures everywhere."""
    t, p_t = t_test(differences) or (None, None)
    error = differences.standard_error
    flips = flip_signs(differences, permutations=permutations, seed=seed)
    return PairedComparison(
        differences=differences,
        p=flips.p if flips else None,
        t=t,
        p_t=p_t,
        interval=find_interval(differences, flips=flips),
        carriers=differences.list_carriers(),
        detectable=detectable_difference(error * math.sqrt(len(differences)), len(differences)) if error else None,
    )


def compare_several(differences: Sequence[Differences]) -> list[tuple[PairedComparison, float] | None]:
    """Computes the figures of several comparisons, each with its p corrected for all of them by Holm's method.

    None for those with too few queries for the corrected p ever to be below .05: they are not tested, and do not count.
    """
    too_few = list_too_few([len(pair) for pair in differences])
    tested = [None if few else compare_paired(pair) for pair, few in zip(differences, too_few, strict=True)]
    corrected = iter(correct_holm([paired.p for paired in tested if paired and paired.p is not None]))
    return [None if paired is None else (paired, next(corrected)) for paired in tested]
