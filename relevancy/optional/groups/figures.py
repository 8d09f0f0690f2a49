"""Comparisons of several cases at once: the newest run of each against its baseline, all of them together, and whether their mean has
dropped."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.core.exceptions import ValidationError

from relevancy.comparison import Comparison, check_limits
from relevancy.comparison.gates import Drop
from relevancy.comparison.sentences import describe_difference
from relevancy.scoring.rounding import format_rounded, format_signed
from relevancy.statistics import ALPHA, Differences, Interval, Verdict, compare_paired, correct_holm, list_too_few
from relevancy.wording import counted


@dataclass(frozen=True)
class GroupFigures:
    """The figures of one comparison: of a case, or of all cases together.

    queries: compared ones. independent: those that tests count: linked queries are one, and so is a query that several cases have.
    difference: in points; None without queries. p_holm: corrected for the number of cases; None for all cases together,
        and if there are too few queries for it ever to be below .05.
    """

    queries: int
    independent: int
    difference: float | None
    interval: Interval | None
    p: float | None
    p_holm: float | None
    verdict: Verdict


@dataclass(frozen=True)
class GroupComparison:
    """The comparisons of the cases, in their order, and of all cases together: None if no case counts."""

    cases: list[GroupFigures]
    together: GroupFigures | None
    counted: int


def combine_cases(comparisons: Sequence[Comparison], weights: Sequence[float]) -> GroupComparison:
    """Combines the comparisons of several cases, each of two runs, into one.

    weights: of the cases; a case with the weight 0 does not count for the group. The difference of the group is the weighted mean of
    the cases' differences, `Σ c D / Σ c`. It is tested as one comparison over the queries of all cases, in which each query has its
    share of its case's weight. Linked queries are one, and so is a query that belongs to several cases on one book: its differences in
    them are not independent of each other.
    """
    pairs = [comparison.pairs[0] for comparison in comparisons]
    too_few = list_too_few([len(pair.paired.differences) for pair in pairs])
    tested = iter(correct_holm([pair.paired.p or 0.0 for pair, few in zip(pairs, too_few, strict=True) if not few]))
    p_holm = [None if few else next(tested) for few in too_few]
    cases = [
        GroupFigures(
            len(pair.by_query),
            len(pair.paired.differences),
            pair.difference,
            pair.paired.interval,
            pair.paired.p,
            corrected,
            pair.paired.decide(
                corrected, is_too_few=few, possible=(pair.outlook.low, pair.outlook.high) if pair.outlook else None
            ),
        )
        for pair, corrected, few in zip(pairs, p_holm, too_few, strict=True)
    ]
    counted = [
        (comparison, weight)
        for comparison, weight in zip(comparisons, weights, strict=True)
        if weight and len(comparison.pairs[0].by_query)
    ]
    return GroupComparison(cases, _combine(counted) if counted else None, len(counted))


def _combine(counted: Sequence[tuple[Comparison, float]]) -> GroupFigures:
    by_query = Differences.build(
        np.concatenate([comparison.pairs[0].by_query.values for comparison, _ in counted]),
        np.concatenate([weight * comparison.pairs[0].by_query.shares for comparison, weight in counted]),
    )
    units: dict[tuple[str, int], int] = {}
    numbers = [units.setdefault(unit, len(units)) for comparison, _ in counted for unit in _units_of(comparison)]
    paired = compare_paired(by_query.merged(np.array(numbers, dtype=np.int64) if len(units) < len(numbers) else None))
    return GroupFigures(
        len(by_query),
        len(units),
        paired.differences.mean,
        paired.interval,
        paired.p,
        None,
        paired.decide(possible=_find_possible(counted)),
    )


def _find_possible(counted: Sequence[tuple[Comparison, float]]) -> tuple[float, float] | None:
    """Returns between what the mean of the cases can still become; None if that is not known of any."""
    outlooks = [(outlook, weight) for comparison, weight in counted if (outlook := comparison.pairs[0].outlook)]
    total = sum(weight for _, weight in outlooks)
    if not total:
        return None
    low = sum(weight * outlook.low for outlook, weight in outlooks) / total
    return low, sum(weight * outlook.high for outlook, weight in outlooks) / total


def _units_of(comparison: Comparison) -> list[tuple[str, int]]:
    """Returns what identifies the unit of each compared query, in all cases: its link, or itself."""
    present = comparison.table.present
    links = dict(zip(present.query_ids, present.links, strict=True)) if present.links else {}
    return [
        ("query", query_id) if (link := links.get(query_id)) is None else ("link", link)
        for query_id in comparison.table.query_ids
    ]


def describe_group(group: GroupComparison) -> str:
    """Returns one sentence: whether the newest runs of a group are better than their baselines."""
    together = group.together
    if together is None or together.difference is None:
        return "No query is scored in both runs of a case, so there is nothing to compare."
    text = describe_difference(together.difference, together.interval, together.p)
    sample = counted(together.queries, "query", "queries")
    if together.independent < together.queries:
        sample += f" ({together.independent:,} independent)"
    sample += f" of {counted(group.counted, 'case')}"
    match together.verdict:
        case Verdict.BETTER | Verdict.WORSE:
            return f"The newest runs are {together.verdict} than their baselines: {text} on {sample}."
        case Verdict.EQUAL:
            return f"The newest runs and their baselines are practically equal: {text} on {sample}."
        case Verdict.SAME:
            return f"The newest runs and their baselines scored the same on {sample}."
        case Verdict.UNRATED:
            return f"Too little is rated to say that the newest runs and their baselines are equal: {text} on {sample}."
        case Verdict.UNDECIDED:
            return (
                f"The newest runs show no difference to their baselines that is more than chance: {text} on {sample}."
            )
        case Verdict.TOO_FEW:
            return (
                f"Too few queries to tell whether the newest runs are better than their baselines: {text} on {sample}."
            )


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
