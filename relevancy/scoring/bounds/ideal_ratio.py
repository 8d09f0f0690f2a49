"""Bounds of nDCG where ratings change the ideal list as well: DCG rises with a grade, but so may the ideal DCG.

nDCG is a linear function of the gains of the open slots divided by a convex one, hence quasi-concave. Its lowest value
is therefore at a corner, where every slot has the lowest or the top grade. As long as the order of all grades stays the
same it is a quotient of linear functions, so its highest value is where every slot has the lowest grade, the top grade,
or a grade that is already known. For given grades, descending order is best. Dinkelbach's iteration ("On nonlinear
fractional programming", Management Science 13(7), 1967) reduces finding the highest ratio DCG / ideal DCG to a few
maximizations of DCG − λ · ideal DCG, each a dynamic program over (grade level, slots filled), for all queries at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relevancy.scoring.arrays import BoolArray, FloatArray, IntArray, divide_or_zero
from relevancy.scoring.bounds.placements import lowest_placement
from relevancy.scoring.definition import Compute, Settings
from relevancy.scoring.measures.gains import compute_discounts, compute_gains, ideal_grades, sum_discounted_gains
from relevancy.scoring.slots import Slots

_TOLERANCE = 1e-12
_MAX_ROUNDS = 100


def ideal_ratio_bounds(compute: Compute, slots: Slots, settings: Settings) -> tuple[FloatArray, FloatArray]:
    """Returns [Q] lowest and [Q] highest nDCG with ideal 'global', 'local', 'recall' or 'uncut'; exact."""
    low = lowest_placement(compute, slots, settings)
    has_open: BoolArray = slots.open_counts > 0
    if has_open.all():
        return low, _highest_ratio(slots, settings)
    high = np.empty(len(low))
    for selected, compute_high in ((~has_open, compute), (has_open, _highest_ratio)):
        if selected.any():
            high[selected] = compute_high(slots.take(np.flatnonzero(selected)), settings)
    return low, high


@dataclass(frozen=True, eq=False)
class _Problem:
    """What the dynamic program needs to know, for Q queries, L levels and at most U open slots.

    Attributes:
        levels: [Q × L] the gains that a slot can have, descending.
        earned: [Q × (U+1)] sum of the discounts of the first s open slots.
        before, after: [L × Q × (U+1)] sum of the ideal discounts down to the rank that is reached when s slots are
            filled and the known gains above the level (before) or down to the level (after) are placed.
        open_counts: [Q] number of open slots.
        rated_dcg: [Q] DCG of the rated slots.
        tail: [Q] what the known gains below all levels add to the ideal DCG when everything above them is placed.
    """

    levels: FloatArray
    earned: FloatArray
    before: FloatArray
    after: FloatArray
    open_counts: IntArray
    rated_dcg: FloatArray
    tail: FloatArray


def _build_problem(slots: Slots, settings: Settings) -> _Problem:
    gain, discount, ideal = settings.choice("gain"), settings.choice("discount"), settings.choice("ideal")
    open_counts = slots.open_counts
    most = int(open_counts.max())
    discounts = compute_discounts(discount, slots.grades.shape[1])
    # The discounts of the open slots moved to the front, in order; 0 behind them.
    order = np.argsort(~slots.is_open, axis=1, kind="stable")[:, :most]
    moved = np.take_along_axis(np.where(slots.is_open, discounts, 0.0), order, axis=1)
    earned = np.zeros((len(moved), moved.shape[1] + 1))
    np.cumsum(moved, axis=1, out=earned[:, 1:])

    known = compute_gains(ideal_grades(slots, ideal), gain)
    lowest, top = compute_gains(np.array([slots.scale.lowest, slots.scale.top]), gain)
    levels = _find_levels(known, lowest, top)
    ideal_discounts = compute_discounts(discount, known.shape[1] + most)
    if ideal != "uncut":
        ideal_discounts = np.where(np.arange(len(ideal_discounts)) < slots.k, ideal_discounts, 0.0)
    sums = np.concatenate(([0.0], np.cumsum(ideal_discounts)))
    placed = (known[:, None, :] >= levels[:, :, None]).sum(axis=2).T[:, :, None] + np.arange(most + 1)
    above = np.empty_like(placed)
    above[0] = np.arange(most + 1)
    above[1:] = placed[:-1]

    positions = np.arange(known.shape[1]) + open_counts[:, None]
    tail = np.where(known < lowest, known * (sums[positions + 1] - sums[positions]), 0.0).sum(axis=1)
    rated_dcg = sum_discounted_gains(slots.grades, gain, discount)
    return _Problem(levels, earned, sums[above], sums[placed], open_counts, rated_dcg, tail)


def _find_levels(known: FloatArray, lowest: float, top: float) -> FloatArray:
    """Returns [Q × L] the distinct gains that a slot can have, descending; padded with the lowest."""
    queries, count = known.shape
    gains = np.empty((queries, count + 2))
    gains[:, :count] = -np.minimum(np.maximum(known, lowest), top)
    gains[:, count:] = -top, -lowest
    gains.sort(axis=1)
    positions = np.zeros(gains.shape, dtype=np.int64)
    np.cumsum(gains[:, 1:] != gains[:, :-1], axis=1, out=positions[:, 1:])
    levels = np.full((queries, int(positions.max()) + 1), lowest)
    levels[np.arange(queries)[:, None], positions] = -gains
    return levels


def _highest_ratio(slots: Slots, settings: Settings) -> FloatArray:
    problem = _build_problem(slots, settings)
    highest = np.zeros(len(slots.grades))
    for _ in range(_MAX_ROUNDS):
        dcg, ideal_dcg = _best_filling(problem, highest)
        ratio = np.minimum(divide_or_zero(dcg, ideal_dcg), 1.0)
        if (ratio <= highest + _TOLERANCE).all():
            break
        highest = np.maximum(highest, ratio)
    return highest


def _best_filling(problem: _Problem, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Returns [Q] DCG and [Q] ideal DCG of the descending filling that maximizes DCG − weight · ideal DCG."""
    queries, states = problem.earned.shape
    rows, columns, weights = np.arange(queries), np.arange(states), weight[:, None]
    value = np.full((queries, states), -np.inf)
    value[:, 0] = 0.0
    dcg, ideal_dcg = np.zeros((queries, states)), np.zeros((queries, states))
    for level in range(problem.levels.shape[1]):
        gain = problem.levels[:, level, None]
        earned, before, after = gain * problem.earned, gain * problem.before[level], gain * problem.after[level]
        start = value - (earned - weights * before)
        reached = np.maximum.accumulate(start, axis=1)
        # The last column at which the running maximum was set: how many slots were filled before this level.
        source = np.maximum.accumulate(np.where(start == reached, columns, 0), axis=1)
        value = reached + (earned - weights * after)
        dcg = (dcg - earned)[rows[:, None], source] + earned
        ideal_dcg = (ideal_dcg - before)[rows[:, None], source] + after
    return dcg[rows, problem.open_counts] + problem.rated_dcg, ideal_dcg[rows, problem.open_counts] + problem.tail
