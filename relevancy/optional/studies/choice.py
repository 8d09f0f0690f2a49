"""Which trial a study chooses, and what that choice gains on queries that did not make it: cross-fitting over folds of queries.

numpy only. Scores are in points, 0 to 100. Definitions: docs/studies.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from relevancy.scoring.arrays import BoolArray, FloatArray, IntArray
from relevancy.statistics import Differences, Interval, find_cross_fitted_interval, merge_units

FOLDS = 5
DRAWS = 3  # of folds; one if a trial was proposed by somebody who had seen scores
UNSEEN = -1  # the fold of trials that no scores have led to
CAUTION = 0.5  # standard errors of a gain; see `Evidence.running_choices`
NOISE = 1e-9  # points


@dataclass(frozen=True)
class Guard:
    """What must not get worse: the mean of some queries by more than `max_fall` points. positions: of the queries, or None for all."""

    positions: IntArray
    max_fall: float


@dataclass(frozen=True, eq=False)
class Evidence:
    """The scores of all trials; trial 0 is the parent.

    scores: [trials × queries] points; NaN where a trial was not searched. A trial that lacks a query can never be chosen.
    weights: [queries] above 0. units: see `merge_units`; None if no queries are linked.
    distances: [trials] from the parent, in scaled knobs; see `running_choices`.
    folds_left_out: [trials] the fold of the first draw whose scores were hidden from what proposed the trial; `UNSEEN` if no scores
        led to it.
    allowed: [trials] whether a trial may be chosen at all, by its search time. guards: what a chosen trial must keep.
    seed: of the folds.
    """

    scores: FloatArray
    weights: FloatArray
    units: IntArray | None
    distances: FloatArray
    folds_left_out: IntArray
    allowed: BoolArray
    seed: int
    guards: Sequence[Guard] = field(default=())

    @cached_property
    def unit_of_query(self) -> IntArray:
        """[queries] the unit of each query."""
        return np.arange(len(self.weights)) if self.units is None else self.units

    @cached_property
    def unit_scores(self) -> FloatArray:
        """[trials × units] points: the weighted means of linked queries."""
        if self.units is None:
            return self.scores
        merged, _ = merge_units(self.scores.T, self.weights, self.units)
        return np.asarray(merged.T)

    @cached_property
    def unit_weights(self) -> FloatArray:
        """[units]"""
        return self.weights if self.units is None else np.bincount(self.units, self.weights)

    @cached_property
    def is_complete(self) -> BoolArray:
        """[trials] whether a trial has a score of every query."""
        return np.isfinite(self.scores).all(axis=1)

    @cached_property
    def was_led(self) -> bool:
        """Whether scores have led to a trial."""
        return bool((self.folds_left_out != UNSEEN).any())

    @cached_property
    def folds(self) -> IntArray:
        """[draws × units] the fold of each unit, 0 to 4: of equal sizes, drawn from the seed."""
        units = len(self.unit_weights)
        chance = np.random.Generator(np.random.PCG64(self.seed))
        return np.array([chance.permutation(units) % FOLDS for _ in range(1 if self.was_led else DRAWS)])

    def means(self, is_used: BoolArray) -> FloatArray:
        """[trials] the mean over some units; NaN for a trial that was not searched for all of them."""
        weights = self.unit_weights * is_used
        return np.asarray((self.unit_scores[:, is_used] @ weights[is_used]) / weights.sum())

    def eligible(self, is_used: BoolArray, fold: int | None) -> BoolArray:
        """[trials] which ones may be chosen with the scores of some units."""
        eligible = self.is_complete & self.allowed
        if fold is not None:
            eligible &= (self.folds_left_out == UNSEEN) | (self.folds_left_out == fold)
        for guard in self.guards:
            positions = guard.positions[is_used[self.unit_of_query[guard.positions]]]
            if len(positions):
                kept = np.average(self.scores[:, positions], axis=1, weights=self.weights[positions])
                eligible &= kept >= kept[0] - guard.max_fall - NOISE
        eligible[0] = True
        return eligible

    def _gains_and_lower_ends(self, is_used: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Returns [trials] the mean difference from the parent over some units, and that less `CAUTION` of its standard errors; NaN for
        a trial that was not searched for all of them. The standard error: see `Differences.standard_error`."""
        values = self.unit_scores[:, is_used] - self.unit_scores[0, is_used]
        shares = self.unit_weights[is_used] / self.unit_weights[is_used].sum()
        gains, n = values @ shares, len(shares)
        variances = ((values - gains[:, np.newaxis]) ** 2) @ shares**2 * (n / (n - 1) if n > 1 else 0.0)
        return gains, gains - CAUTION * np.sqrt(variances)

    def running_choices(self, is_used: BoolArray, fold: int | None = None) -> IntArray:
        """[trials] the choice after each trial, among the trials up to it.

        Each gain has a lower end, half a standard error below it. Of the trials whose gain reaches the highest lower end of all, the
        one nearest to the parent is chosen; of equally near ones the best. Simulated, that truly gains as much as the trial with the
        best mean or more, which is more often far away by luck; see docs/studies.md.
        """
        gains, lower_ends = self._gains_and_lower_ends(is_used)
        eligible = self.eligible(is_used, fold)
        choices, bar = np.zeros(len(gains), np.int64), -np.inf
        candidates: list[int] = []

        def preference(trial: int) -> tuple[float, float]:
            return float(self.distances[trial]), -float(gains[trial])

        for trial in range(len(gains)):
            best = int(choices[trial - 1]) if trial else 0
            if eligible[trial]:
                if gains[trial] >= bar - NOISE:
                    candidates.append(trial)
                    best = min(best, trial, key=preference)
                if lower_ends[trial] > bar:
                    bar = lower_ends[trial]
                    candidates = [one for one in candidates if gains[one] >= bar - NOISE]
                    best = min(candidates, key=preference)
            choices[trial] = best
        return choices

    def seen_without(self, fold: int) -> list[tuple[int, float]]:
        """Returns what a search may see from which the scores of a fold are hidden: the trials that it or no scores have led to, each
        with its mean over the other folds. The parent is always among them."""
        is_used = self.folds[0] != fold
        means, eligible = self.means(is_used), self.eligible(is_used, fold)
        return [(int(trial), float(means[trial])) for trial in np.flatnonzero(eligible)]

    def differences(self, trial: int) -> Differences:
        """Returns the differences of a trial from the parent, by unit."""
        return Differences(self.unit_scores[trial] - self.unit_scores[0], self.unit_weights)

    @cached_property
    def seen_choices(self) -> IntArray:
        """[trials] the choice after each trial with the scores of all queries."""
        return self.running_choices(np.ones(len(self.unit_weights), np.bool_))

    @cached_property
    def _fold_choices(self) -> IntArray:
        """[draws × folds × trials] the choice for a fold after each trial, with the scores of all units outside it."""
        return np.array([[self.running_choices(folds != fold, fold) for fold in range(FOLDS)] for folds in self.folds])

    def draws_of(self, positions: IntArray | None = None) -> list[Differences]:
        """Returns, for each draw of the folds, what choosing among the trials gains on queries that have not chosen, by unit: on all of
        them, or on those at some positions."""
        at = np.arange(len(self.weights)) if positions is None else positions
        of_query = self.unit_of_query[at]
        units = None if self.units is None else np.unique(of_query, return_inverse=True)[1]
        return [
            Differences(self.scores[of_draw[folds[of_query]], at] - self.scores[0, at], self.weights[at]).merged(units)
            for folds, of_draw in zip(self.folds, self._fold_choices[:, :, -1], strict=True)
        ]

    def _gains(self, trials: int) -> FloatArray:
        """Returns [draws × units] what choosing among the first trials gains: the score under the choice of the other folds, less that
        of the parent."""
        units = np.arange(len(self.unit_weights))
        choices = self._fold_choices[:, :, trials - 1]
        return np.array(
            [
                self.unit_scores[of_draw[folds], units] - self.unit_scores[0]
                for folds, of_draw in zip(self.folds, choices, strict=True)
            ]
        )

    def cross_fitted(self) -> Differences:
        """Returns what choosing among the trials gains on queries that have not chosen, by unit: over several draws the mean."""
        return Differences(self._gains(len(self.scores)).mean(axis=0), self.unit_weights)

    def gain_interval(self) -> Interval | None:
        """Returns the 95 % interval of what choosing among the trials gains; None for fewer than two units."""
        return find_cross_fitted_interval(self.draws_of())

    def best_trial(self) -> int:
        """Returns the trial with the best mean over all queries, of equally good ones the nearest to the parent."""
        everything = np.ones(len(self.unit_weights), np.bool_)
        means = np.where(self.eligible(everything, None), self.means(everything), -np.inf)
        best = np.flatnonzero(means >= means.max() - NOISE)
        return int(best[np.argmin(self.distances[best])])

    def seen_curve(self) -> list[float]:
        """Returns, for each number of trials, by how many points the choice is better on the queries that have made it."""
        means = self.means(np.ones(len(self.unit_weights), np.bool_))
        return [float(means[choice] - means[0]) for choice in self.seen_choices]

    def cross_fitted_curve(self) -> list[float]:
        """Returns, for each number of trials, what the choice gains on queries that have not made it."""
        shares = self.unit_weights / self.unit_weights.sum()
        return [float(self._gains(trials).mean(axis=0) @ shares) for trials in range(1, len(self.scores) + 1)]

    def can_still_win(self, scores: FloatArray, ceilings: FloatArray) -> bool:
        """Returns whether a trial could be chosen, for all queries or for a fold, whatever its missing scores are.

        scores: [queries] of the trial; NaN where it has not been searched. ceilings: [queries] what a ranking can reach at most.

        A trial that cannot may be given up without changing any choice.
        """
        reachable = np.where(np.isfinite(scores), scores, ceilings)
        if self.units is not None:
            reachable, _ = merge_units(reachable, self.weights, self.units)
        gains = reachable - self.unit_scores[0]
        weights = self.unit_weights
        return any(
            float(gains[is_used] @ weights[is_used]) >= (bar - NOISE) * weights[is_used].sum()
            for is_used, bar in self._bars
        )

    @cached_property
    def _bars(self) -> list[tuple[BoolArray, float]]:
        """What the gain of a trial has to reach to be chosen: masks of units, each with the highest lower end of a gain over them."""
        everything = np.ones(len(self.unit_weights), np.bool_)
        masks: list[tuple[BoolArray, int | None]] = [(everything, None)]
        masks += [(folds != fold, fold) for folds in self.folds for fold in range(FOLDS)]
        return [
            (is_used, float(self._gains_and_lower_ends(is_used)[1][self.eligible(is_used, fold)].max()))
            for is_used, fold in masks
        ]
