"""A comparison in words."""

from __future__ import annotations

import itertools
import math

import numpy as np

from relevancy.scoring.rounding import format_p, format_rounded, format_signed
from relevancy.statistics import ALPHA, TIE, Interval, Verdict, group_runs
from relevancy.wording import counted, listed

from .comparisons import Comparison, RunPair, name_runs

MAX_NAMED = 5
NAMED_SHARE = 0.1  # of the queries: so few carriers are named
LOPSIDED = 1.5  # the longer side of an interval is so many times as long as the shorter one, at least
EXACT_POWER_QUERIES = 40  # with fewer, the detectable difference is found less than four times in five


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
        case Verdict.SAME:
            linked = ", linked ones taken together" if independent < queries else ""
            return (
                f"{names} scored the same on all {counted(queries, 'query', 'queries')}{linked}; a change that affects fewer than "
                f"1 query in {max(1, round(independent / 3)):,} may be missed."
            )
        case Verdict.UNRATED:
            return _describe_unrated(pair, f"{_describe_difference(pair)} {on_queries}")
        case Verdict.UNDECIDED:
            compared = counted(queries, "query", "queries") + (
                f", {independent:,} independent," if independent < queries else ""
            )
            return f"{compared} show no clear difference between {names}: {_describe_difference(pair)}."
        case Verdict.TOO_FEW if independent < 2 <= queries:
            return f"{names} cannot be compared: the {queries:,} queries scored in both are variants of one."
        case Verdict.TOO_FEW if independent < 2:
            scored = f"only {queries}" if queries else "none"
            return f"{names} cannot be compared: {scored} of their queries is scored in both."
        case Verdict.TOO_FEW:
            difference = f"{format_signed(pair.paired.differences.mean, 1)} points"
            return f"Too few queries to tell whether {name_b} is better than {name_a}: {difference} {on_queries}."


def _describe_unrated(pair: RunPair, difference: str) -> str:
    outlook = pair.outlook
    assert outlook is not None
    share = "nothing" if outlook.rated is None else f"{format_rounded(100 * outlook.rated, 0)} %"
    low, high = (format_signed(end, 1) for end in (outlook.low, outlook.high))
    return (
        f"Too little is rated to say: {share} of what counts in {' and '.join(pair.names)}. The difference is {difference}, and "
        f"{low} to {high} are possible over all queries."
    )


def describe_carriers(pair: RunPair) -> str:
    """Returns which queries make up 80 % of the difference and, if they are few, what is left without them; may be empty."""
    differences, carriers = pair.paired.differences, pair.carriers
    if not carriers:
        return ""
    is_one = len(carriers) == 1
    queries = "One query makes" if is_one else f"{len(carriers):,} queries make"
    if len(carriers) > math.ceil(NAMED_SHARE * len(differences) - 1e-9):
        return f"{queries} up 80 % of the {'gain' if differences.mean > 0 else 'loss'}."
    names = listed([f"“{text}”" for text in carriers], MAX_NAMED)
    rest = differences.mean_without(pair.paired.carriers)
    without = "" if rest is None else f"; without {'it,' if is_one else 'them'} it is {format_signed(rest, 1)}"
    return f"{queries} up 80 % of the difference ({names}){without}."


def describe_lopsided(pair: RunPair) -> str:
    """Returns why one side of the interval is much longer than the other, in a sentence; empty if none is."""
    interval, differences = pair.paired.interval, pair.paired.differences
    if interval is None or not interval.is_reliable:
        return ""
    below, above = differences.mean - interval.low, interval.high - differences.mean
    direction = 1 if above > below else -1
    directed = np.sort(direction * differences.values)[::-1]
    if min(below, above) * LOPSIDED > max(below, above) or directed[0] < TIE:
        return ""
    large = directed[directed >= directed[0] / 2]
    smallest, largest = (format_rounded(points, 1) for points in (large[-1], large[0]))
    points = f"{smallest} points" if smallest == largest else f"{smallest} to {largest} points"
    verb = "gained" if direction > 0 else "lost"
    ends = ("above", "below") if direction > 0 else ("below", "above")
    return (
        f"The interval reaches further {ends[0]} the difference than {ends[1]}: {counted(len(large), 'query', 'queries')} {verb} "
        f"{points}, much more than the others."
    )


def format_detectable(pair: RunPair) -> str:
    """Returns the smallest true difference that so many queries find four times in five; “–” if there is none."""
    detectable = pair.paired.detectable
    if detectable is None:
        return "–"
    about = "about " if len(pair.paired.differences) < EXACT_POWER_QUERIES else ""
    return f"{about}{format_rounded(detectable, 1)}"


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
    sentences = []
    for group in groups:
        *others, last = (names[position] for position in group)
        sentences.append(f"Among all pairs, {', '.join(others)} and {last} cannot be told apart.")
    for pair in comparison.pairs:
        decided = pair.verdict in {Verdict.BETTER, Verdict.WORSE}
        # The verdict finds a difference that the test of all pairs does not.
        if decided and pair.p_holm is not None and pair.p_hsd is not None and pair.p_hsd > ALPHA:
            name_a, name_b = pair.names
            sentences.append(
                f"The verdict on {name_b} stands all the same: its p, {format_p(pair.p_holm)}, is corrected for the comparisons with "
                f"{name_a} only. Among all pairs it is {format_p(pair.p_hsd)}, which counts if you choose the best of these runs."
            )
    return sentences


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
