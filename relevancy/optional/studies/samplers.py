"""What a study tries next. A trial follows from the seed, its number and the trials before it, so that a study can go on after a crash.

Which scores a proposal may have seen is decided by who calls: see `Proposal.fold_left_out`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from relevancy.engines import KnobValue

from .choice import FOLDS, UNSEEN
from .space import MAX_GRID, Kind, Settings, Space

MAX_SOBOL_KNOBS = 8
MAX_SOBOL = 200
SOBOL_SHARE_OF_MANY_KNOBS = 0.4  # of the trials, where Sobol points alone would leave too much of the space empty
LOCAL_SHARE = 0.1
ESTIMATED = 20  # trials at the end whose settings were estimated to be the best, instead of local steps
STEP = 0.08  # of a local step: the standard deviation in scaled knobs


class Origin(StrEnum):
    """Who proposed a trial."""

    PARENT = "parent"
    GRID = "grid"
    SOBOL = "sobol"
    TPE = "tpe"
    LOCAL = "local"
    ESTIMATED = "estimated"


@dataclass(frozen=True)
class Proposal:
    """What is tried next. fold_left_out: of the first draw, whose scores are hidden from `propose`; `UNSEEN` if it needs no scores."""

    origin: Origin
    fold_left_out: int = UNSEEN


def count_trials(space: Space, budget: int) -> int:
    """Returns how many trials a study makes, the parent included: all of a small grid, else the budget."""
    size = space.grid_size
    return size + 1 if size is not None and size <= min(MAX_GRID, budget - 1) else budget


def plan_trial(space: Space, budget: int, number: int, *, estimates: bool = False) -> Proposal:
    """Returns who proposes a trial. number: from 0, which is the parent, to `count_trials` − 1.

    All of a small grid; else Sobol points, which no scores lead to, then TPE if there are more than these can use, and local steps at
    the end, or with `estimates` settings that were estimated to be the best. All but Sobol points are five searches in turn, from each
    of which the scores of one fold are hidden.
    """
    if number == 0:
        return Proposal(Origin.PARENT)
    if count_trials(space, budget) < budget or space.grid_size == budget - 1:
        return Proposal(Origin.GRID)
    tried = budget - 1
    last = (min(ESTIMATED, tried // 2) if estimates else int(tried * LOCAL_SHARE)) // FOLDS * FOLDS
    is_wide = len(space.knobs) > MAX_SOBOL_KNOBS
    sobol = min(MAX_SOBOL, int(tried * SOBOL_SHARE_OF_MANY_KNOBS) if is_wide else tried - last)
    if number <= sobol:
        return Proposal(Origin.SOBOL)
    fold = (number - sobol - 1) % FOLDS
    if number <= tried - last:
        return Proposal(Origin.TPE, fold)
    return Proposal(Origin.ESTIMATED if estimates else Origin.LOCAL, fold)


class Samplers:
    """Proposes settings. Keeps what TPE has seen, which only saves time."""

    def __init__(self, space: Space, seed: int, parent: Settings) -> None:
        self._space, self._seed, self._parent = space, seed, dict(parent)
        # Only where a study works: importing takes a third of a second of every start.
        from scipy.stats import qmc  # noqa: PLC0415

        sobol = qmc.Sobol(len(space.knobs), rng=np.random.Generator(np.random.PCG64(seed)))
        self._points = sobol.random(2**8)[:MAX_SOBOL]
        self._tpe: dict[int, _Tpe] = {}

    def propose(
        self, proposal: Proposal, number: int, tried: Sequence[tuple[int, Settings, float]]
    ) -> dict[str, KnobValue]:
        """Returns the settings of a trial.

        tried: number, settings and mean of earlier trials, in their order, of what the proposal may have seen; empty if it needs no
        scores.
        """
        match proposal.origin:
            case Origin.PARENT:
                return self._parent
            case Origin.GRID:
                return next(settings for place, settings in enumerate(self._space.grid(), 1) if place == number)
            case Origin.SOBOL:
                return self._space.settings(self._points[number - 1])
            case Origin.TPE:
                tpe = self._tpe.setdefault(proposal.fold_left_out, _Tpe(self._space))
                return tpe.propose(self._seed + number, tried)
            case Origin.LOCAL | Origin.ESTIMATED:  # the latter where nothing could be estimated
                return self._step(number, tried)

    def _step(self, number: int, tried: Sequence[tuple[int, Settings, float]]) -> dict[str, KnobValue]:
        """Returns settings near the best ones: one to three knobs are moved, a knob with single values at least to the next one, and
        one with texts to any other."""
        chance = np.random.Generator(np.random.PCG64([self._seed, number]))
        _, best, _ = max(tried, key=lambda trial: trial[2])
        positions = self._space.positions(best)
        knobs = self._space.knobs
        moved = chance.permutation(len(knobs))[: int(chance.integers(1, min(3, len(knobs)) + 1))]
        settings = dict(best)
        for place in moved:
            knob, step = knobs[place], float(chance.normal(0.0, STEP))
            if knob.is_text:
                others = [value for value in knob.values if value != best[knob.name]]
                settings[knob.name] = others[int(chance.integers(len(others)))]
            elif values := knob.values:
                at = knob.place(best[knob.name])
                away = max(1, round(abs(step) * len(values))) * (1 if step > 0 else -1)
                settings[knob.name] = values[min(max(at + away, 0), len(values) - 1)]
            else:
                settings[knob.name] = knob.value(positions[place] + step)
        return settings


class _Tpe:
    """Optuna's tree-structured Parzen estimator (Bergstra et al. 2011) over the scaled knobs."""

    def __init__(self, space: Space) -> None:
        # Only for studies that use it: importing takes half a second.
        import optuna  # noqa: PLC0415

        self._optuna, self._space = optuna, space
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._study = optuna.create_study(direction="maximize")
        self._told: set[int] = set()
        categories = {knob.name: list(knob.values) for knob in space.knobs if knob.kind in (Kind.CHOICES, Kind.SWITCH)}
        self._distributions: dict[str, Any] = {
            knob.name: optuna.distributions.CategoricalDistribution(categories[knob.name])
            if knob.name in categories
            else optuna.distributions.FloatDistribution(0.0, 1.0)
            for knob in space.knobs
        }

    def propose(self, seed: int, tried: Sequence[tuple[int, Settings, float]]) -> dict[str, KnobValue]:
        for number, settings, mean in tried:
            if number not in self._told:
                self._told.add(number)
                self._study.add_trial(self._trial(settings, mean))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", self._optuna.exceptions.ExperimentalWarning)
            self._study.sampler = self._optuna.samplers.TPESampler(n_startup_trials=1, multivariate=True, seed=seed)
        asked = self._study.ask(self._distributions)
        # What becomes of it is told as an earlier trial of the next proposal, so that the same trials lead to the same proposals.
        self._study.tell(asked, state=self._optuna.trial.TrialState.FAIL)
        return {
            knob.name: value if self._is_category(knob.name) else knob.value(value)
            for knob, value in ((knob, asked.params[knob.name]) for knob in self._space.knobs)
        }

    def _is_category(self, name: str) -> bool:
        return isinstance(self._distributions[name], self._optuna.distributions.CategoricalDistribution)

    def _trial(self, settings: Settings, mean: float) -> Any:
        positions = {knob.name: knob.position(settings[knob.name]) for knob in self._space.knobs}
        parameters = {
            knob.name: knob.value(positions[knob.name]) if self._is_category(knob.name) else positions[knob.name]
            for knob in self._space.knobs
        }
        return self._optuna.trial.create_trial(params=parameters, distributions=self._distributions, value=mean)
