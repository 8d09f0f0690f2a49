"""Corrections for several comparisons, and groups of runs that cannot be told apart."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from relevancy.statistics.arrays import FloatArray
from relevancy.statistics.randomisation import smallest_p

ALPHA = 0.05


def correct_holm(p_values: Sequence[float]) -> list[float]:
    """Returns the p values corrected by Holm's step-down method, in the order given.

    Source: Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979.
    Example: .01 .04 .03 → .03 .06 .06.
    """
    count = len(p_values)
    corrected = [0.0] * count
    largest = 0.0
    for rank, position in enumerate(sorted(range(count), key=lambda index: p_values[index])):
        largest = max(largest, min(1.0, (count - rank) * p_values[position]))
        corrected[position] = largest
    return corrected


def list_too_few(counts: Sequence[int], alpha: float = ALPHA) -> list[bool]:
    """Returns for each of several tests, corrected together by Holm's method, whether its p can never be below alpha.

    counts: independent queries of each. A test that cannot reach alpha alone is not made, so that it does not count in the correction.
    Of the others it is one that stays at alpha or above even if all of them have the smallest p that so many queries can give.
    """
    smallest = [smallest_p(count) for count in counts]
    best = iter(correct_holm([p for p in smallest if p < alpha]))
    return [p >= alpha or next(best) >= alpha for p in smallest]


def group_runs(means: FloatArray, p: FloatArray, alpha: float = ALPHA) -> list[list[int]]:
    """Returns the largest groups of runs that cannot be told apart, best group first; a run may be in several.

    means: [runs]. p: [runs × runs], of each pair.
    """
    runs = [int(run) for run in np.argsort(-means, kind="stable")]
    groups: list[list[int]] = []
    for size in range(len(runs), 0, -1):
        for group in itertools.combinations(runs, size):
            are_alike = all(p[first, second] >= alpha for first, second in itertools.combinations(group, 2))
            if are_alike and not any(set(group) <= set(larger) for larger in groups):
                groups.append(list(group))
    return sorted(groups, key=lambda group: [runs.index(run) for run in group])
