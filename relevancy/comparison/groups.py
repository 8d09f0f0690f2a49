"""Comparisons of several cases at once: the newest run of each against its baseline, and all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from relevancy.statistics import (
    EQUIVALENCE_MARGIN,
    Differences,
    PairedComparison,
    Verdict,
    compare_paired,
    correct_holm,
)

from .comparisons import RunPair
from .sentences import describe_difference


@dataclass(frozen=True)
class GroupComparison:
    """Pairs of runs of different cases, together.

    p_holm: p of each pair, corrected for the number of cases; None where there is no p.
    paired: figures of the mean of the cases' differences; None if no query of any case is scored in both runs.
    """

    p_holm: list[float | None]
    paired: PairedComparison | None
    verdict: Verdict


def combine_cases(
    pairs: Sequence[RunPair], weights: Sequence[float], *, margin: float = EQUIVALENCE_MARGIN
) -> GroupComparison:
    """Combines the comparisons of several cases into one.

    weights: of the cases, above 0. The difference of the group is the weighted mean of the cases' differences, `Σ c D / Σ c`. It is
    tested as one comparison over the queries of all cases, in which each query has its share of its case's weight: signs are drawn
    for each query, linked queries as one, and the bootstrap draws from all of them.
    """
    counted = [(pair, weight) for pair, weight in zip(pairs, weights, strict=True) if len(pair.paired.differences)]
    tested = [pair for pair in pairs if pair.paired.p is not None]
    corrected = iter(correct_holm([pair.paired.p or 0.0 for pair in tested]))
    p_holm = [None if pair.paired.p is None else next(corrected) for pair in pairs]
    if not counted:
        return GroupComparison(p_holm, None, Verdict.TOO_FEW)
    differences = Differences.build(
        np.concatenate([pair.paired.differences.values for pair, _ in counted]),
        np.concatenate([weight * pair.paired.differences.shares for pair, weight in counted]),
    )
    paired = compare_paired(differences)
    return GroupComparison(p_holm, paired, paired.decide(margin=margin))


def describe_group(together: GroupComparison, cases: int) -> str:
    """Returns one sentence: whether the newest runs of a group are better than their baselines. cases: how many there are."""
    paired = together.paired
    if paired is None:
        return "No query is scored in both runs of a case, so there is nothing to compare."
    text = describe_difference(paired, paired.p)
    queries = len(paired.differences)
    of_cases = f"{queries:,} quer{'y' if queries == 1 else 'ies'} of {cases:,} case{'' if cases == 1 else 's'}"
    match together.verdict:
        case Verdict.BETTER | Verdict.WORSE:
            return f"The newest runs are {together.verdict} than their baselines: {text} on {of_cases}."
        case Verdict.EQUAL:
            return f"The newest runs and their baselines are practically equal: {text} on {of_cases}."
        case Verdict.UNDECIDED:
            return f"The newest runs show no difference to their baselines that {of_cases} can prove: {text}."
        case Verdict.TOO_FEW:
            return f"The newest runs cannot be compared with their baselines: {of_cases} are too few."
