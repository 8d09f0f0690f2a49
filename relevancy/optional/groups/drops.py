"""Whether the mean of a group is lower than before by more than is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.core.exceptions import ValidationError

from relevancy.comparison import Comparison, check_limits
from relevancy.comparison.gates import Drop
from relevancy.scoring.rounding import format_rounded, format_signed
from relevancy.statistics import ALPHA
from relevancy.wording import counted

from .figures import GroupComparison, combine_cases


@dataclass(frozen=True)
class GroupDropCheck(Drop):
    """The runs of several cases against their baselines, as one sample. max_drop: of the group."""

    group: GroupComparison

    def describe(self) -> str:
        """Returns one sentence with the difference, the interval and the conclusion."""
        together = self.group.together
        assert together is not None
        low, high = (format_rounded(bound, 1) for bound in (self.interval.low, self.interval.high))
        figures = f"{format_signed(self.difference, 1)} points (95 %: {low} to {high}) on the same {together.queries:,} queries"
        if self.independent < together.queries:
            figures += f", {self.independent:,} independent,"
        return f"{figures} of {counted(self.group.counted, 'case')}: {self.conclude()}."


def check_group_drop(
    *, comparisons: Sequence[Comparison], weights: Sequence[float], max_drop: float = 0.0
) -> GroupDropCheck:
    """Checks the drop of the mean of several cases, each with its run and its baseline; see `combine_cases`.

    Raises ValidationError if the limit is out of range, or fewer than two independent queries are scored in both runs of a case.
    """
    check_limits(max_drop=max_drop, alpha=ALPHA)
    group = combine_cases(comparisons, weights)
    together = group.together
    if together is None or together.difference is None or together.interval is None:
        queries = together.independent if together else 0
        raise ValidationError(
            f"{queries} independent queries are scored in both runs of a case of the group, and at least two are needed."
        )
    return GroupDropCheck(together.difference, together.independent, together.interval, max_drop, ALPHA, group)
