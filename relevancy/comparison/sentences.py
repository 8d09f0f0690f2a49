"""A comparison in words."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from relevancy.scoring.rounding import format_p, format_rounded, format_signed
from relevancy.statistics import ALPHA, Interval, Verdict, group_runs
from relevancy.wording import counted

from .comparisons import Comparison, RunPair, name_runs


def describe_verdict(pair: RunPair) -> str:
    """Returns one sentence: which run is better, by how much, and how sure that is."""
    queries, independent = len(pair.by_query), len(pair.paired.differences)
    on_queries = f"on the same {counted(queries, 'query', 'queries')}"
    if independent < queries:
        on_queries += f", {independent:,} independent"
    name_a, name_b = pair.names
    names = f"{name_b} and {name_a}"
    match pair.verdict:
        case Verdict.BETTER | Verdict.WORSE:
            return f"{name_b} is {pair.verdict} than {name_a}: {_describe_difference(pair)} {on_queries}."
        case Verdict.EQUAL:
            return f"{names} are practically equal: {_describe_difference(pair)} {on_queries}."
        case Verdict.UNDECIDED:
            compared = counted(queries, "query", "queries") + (
                f", {independent:,} independent," if independent < queries else ""
            )
            return f"{names} show no difference that {compared} can prove: {_describe_difference(pair)}."
        case Verdict.TOO_FEW if independent < queries:
            return f"{names} cannot be compared: the {queries:,} queries scored in both are variants of one."
        case Verdict.TOO_FEW:
            scored = f"only {queries}" if queries else "none"
            return f"{names} cannot be compared: {scored} of their queries is scored in both."


def describe_groups(comparison: Comparison) -> list[str]:
    """Returns which of three or more runs cannot be told apart at the level of 5 %, the group with the best run first.

    Empty for two runs, and if their scores cannot be compared.
    """
    count = len(comparison.runs)
    p = np.ones((count, count))
    for pair, (first, second) in zip(comparison.pairs, itertools.combinations(range(count), 2), strict=True):
        if pair.p_hsd is None:
            return []
        p[first, second] = p[second, first] = pair.p_hsd
    names = name_runs(comparison.runs)
    groups = [group for group in group_runs(np.array(comparison.means, dtype=np.float64), p) if len(group) > 1]
    if not groups:
        return ["Among all pairs, each run differs from every other one by more than chance explains."]
    sentences = [
        f"Among all pairs, {_join([names[position] for position in group])} cannot be told apart." for group in groups
    ]
    return [*sentences, *(_explain_contradiction(pair) for pair in comparison.pairs if _is_contradicted(pair))]


def _is_contradicted(pair: RunPair) -> bool:
    """Whether the verdict finds a difference that the test of all pairs does not."""
    decided = pair.verdict in {Verdict.BETTER, Verdict.WORSE}
    return decided and pair.p_holm is not None and pair.p_hsd is not None and pair.p_hsd > ALPHA


def _explain_contradiction(pair: RunPair) -> str:
    first, second = pair.names
    return (
        f"The verdict on {second} stands all the same: its p, {format_p(pair.p_holm or 0.0)}, is corrected for the comparisons with "
        f"{first} only. Among all pairs it is {format_p(pair.p_hsd or 0.0)}, which counts if you choose the best of these runs."
    )


def _join(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _describe_difference(pair: RunPair) -> str:
    p = next((p for p in (pair.p_holm, pair.p_hsd, pair.paired.p) if p is not None), None)
    return describe_difference(
        pair.paired.differences.mean, pair.paired.interval, p, is_corrected=pair.p_hsd is not None
    )


def describe_difference(
    difference: float, interval: Interval | None, p: float | None, *, is_corrected: bool = False
) -> str:
    """Returns the difference with its interval and p: `+5.5 points (95 %: 0.4 to 10.9), p = .037`.

    is_corrected: whether p is corrected for several comparisons, and is called so.
    """
    text = f"{format_signed(difference, 1)} points"
    if interval is not None:
        low, high = (format_rounded(bound, 1) for bound in (interval.low, interval.high))
        text += f" (95 %: {low} to {high})"
    if p is not None:
        formatted = format_p(p)
        text += (
            f", {'corrected ' if is_corrected else ''}p {formatted if formatted.startswith('<') else f'= {formatted}'}"
        )
    return text
