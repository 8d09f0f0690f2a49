"""Bounds of nDCG where ratings move the ideal too: DCG rises with a grade, but so may the ideal.

nDCG is linear over convex in the gains of the open slots. It is therefore quasi-concave: its least value lies at a
corner, where every slot has the lowest or the top grade; and on each region in which the order of all grades stays the
same it is a quotient of linear functions, so its greatest value lies where every slot has the lowest grade, the top
grade, or a grade that is already known. For a given multiset the best order descends. Dinkelbach's iteration
("On nonlinear fractional programming", Management Science 13(7), 1967) turns the greatest ratio DCG / ideal into a few
maximisations of DCG − λ · ideal, each a dynamic programme over (grade level, slots filled), for all queries at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relevancy.scoring.arrays import FloatArray, IntArray, ratio
from relevancy.scoring.definition import Compute, Settings
from relevancy.scoring.gains import discounted, discounts, gains
from relevancy.scoring.ideal import ideal_grades
from relevancy.scoring.slots import Slots

from .placements import lowest_placement

_CLOSE = 1e-12
_MOST_ROUNDS = 100


def ideal_ratio(compute: Compute, slots: Slots, settings: Settings) -> tuple[FloatArray, FloatArray]:
    """Exact bounds of nDCG with ideal 'global', 'local', 'recall' or 'uncut'."""
    low = lowest_placement(compute, slots, settings)
    high = low.copy()
    undecided = slots.open.any(axis=1)
    high[~undecided] = compute(slots.rows(~undecided), settings)
    if undecided.any():
        high[undecided] = _highest(slots.rows(undecided), settings)
    return low, high


@dataclass(frozen=True, eq=False)
class _Problem:
    """`levels` [Q × L]: gains that may be chosen, descending. `earned` [Q × (U+1)]: discounts of the first s open
    slots, summed. `before`, `after` [L × Q × (U+1)]: ideal discounts, summed, down to the rank reached when s slots
    are filled and known gains above the level (before) or down to it (after) are placed. `fixed`, `tail` [Q]: DCG of
    rated slots; share of the ideal that known gains below all levels have when everything above is placed."""

    levels: FloatArray
    earned: FloatArray
    before: FloatArray
    after: FloatArray
    slots: IntArray
    fixed: FloatArray
    tail: FloatArray


def _problem(slots: Slots, settings: Settings) -> _Problem:
    gain, discount, ideal = settings.choice("gain"), settings.choice("discount"), settings.choice("ideal")
    open_slots = slots.open
    left = open_slots.sum(axis=1)
    most = int(left.max())
    worth = discounts(discount, slots.grades.shape[1])
    # The open slots' discounts moved to the front, in order; 0 behind them.
    order = np.argsort(~open_slots, axis=1, kind="stable")[:, :most]
    earned = _summed(np.take_along_axis(np.where(open_slots, worth, 0.0), order, axis=1))

    known = gains(ideal_grades(slots, ideal), gain)
    lowest, top = gains(np.array([slots.scale.lowest, slots.scale.top]), gain)
    levels = _levels(known, lowest, top)
    ranks = known.shape[1] + most
    ideal_worth = discounts(discount, ranks)
    if ideal != "uncut":
        ideal_worth[slots.depth :] = 0.0
    sums = np.concatenate(([0.0], np.cumsum(ideal_worth)))
    placed = (known[:, None, :] >= levels[:, :, None]).sum(axis=2).T[:, :, None] + np.arange(most + 1)
    above = np.concatenate((np.broadcast_to(np.arange(most + 1), placed[:1].shape), placed[:-1]))

    below = known < lowest
    at = np.arange(known.shape[1]) + left[:, None]
    tail = np.where(below, known * (sums[at + 1] - sums[at]), 0.0).sum(axis=1)
    fixed = discounted(slots.grades, gain, discount)
    return _Problem(levels, earned, sums[above], sums[placed], left, fixed, tail)


def _summed(rows: FloatArray) -> FloatArray:
    return np.hstack((np.zeros((len(rows), 1)), np.cumsum(rows, axis=1)))


def _levels(known: FloatArray, lowest: float, top: float) -> FloatArray:
    """[Q × L] the distinct gains a slot may take, descending; the lowest repeated where a query has fewer."""
    ends = np.broadcast_to([top, lowest], (len(known), 2))
    every = -np.sort(-np.hstack((np.clip(known, lowest, top), ends)), axis=1)
    position = np.cumsum(np.diff(every, axis=1, prepend=every[:, :1]) != 0, axis=1)
    levels = np.full((len(known), int(position.max()) + 1), lowest)
    np.put_along_axis(levels, position, every, axis=1)
    return levels


def _highest(slots: Slots, settings: Settings) -> FloatArray:
    problem = _problem(slots, settings)
    best = np.zeros(len(slots.grades))
    for _ in range(_MOST_ROUNDS):
        dcg, ideal = _best_filling(problem, best)
        better = np.minimum(ratio(dcg, ideal), 1.0)
        if (better <= best + _CLOSE).all():
            break
        best = np.maximum(best, better)
    return best


def _best_filling(problem: _Problem, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """DCG and ideal DCG, per query, of the descending filling that maximises DCG − weight · ideal."""
    queries, states = problem.earned.shape
    columns = np.arange(states)
    value = np.full((queries, states), -np.inf)
    value[:, 0] = 0.0
    dcg, ideal = np.zeros((queries, states)), np.zeros((queries, states))
    for level in range(problem.levels.shape[1]):
        gain = problem.levels[:, level, None]
        before, after = problem.before[level], problem.after[level]
        start = value - gain * (problem.earned - weight[:, None] * before)
        reached = np.maximum.accumulate(start, axis=1)
        # The last column at which the running maximum was set: how many slots were filled before this level.
        source = np.maximum.accumulate(np.where(start == reached, columns, 0), axis=1)
        value = reached + gain * (problem.earned - weight[:, None] * after)
        dcg = np.take_along_axis(dcg - gain * problem.earned, source, 1) + gain * problem.earned
        ideal = np.take_along_axis(ideal - gain * before, source, 1) + gain * after
    rows = np.arange(queries)
    return dcg[rows, problem.slots] + problem.fixed, ideal[rows, problem.slots] + problem.tail
