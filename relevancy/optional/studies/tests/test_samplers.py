"""What a study tries next."""

import math
from typing import Any

import numpy as np
import pytest

from relevancy.optional.studies.choice import UNSEEN, Evidence
from relevancy.optional.studies.samplers import Origin, Samplers, count_trials, plan_trial
from relevancy.optional.studies.space import Space, parse_knob

SPACE = Space((parse_knob("a=0.1:10:log"), parse_knob("b=0:1"), parse_knob("c=0:20:whole")))
PARENT = {"a": 1.0, "b": 0.5, "c": 3.0}
GRID = Space((parse_knob("rows=10,20,50"), parse_knob("fuzzy=switch")))
WIDE = Space(tuple(parse_knob(f"k{number}=0:1") for number in range(9)))


def plan(space: Space, budget: int) -> list[str]:
    return [plan_trial(space, budget, number).origin for number in range(count_trials(space, budget))]


def test_all_of_a_small_grid_is_tried_and_nothing_more() -> None:
    assert plan(GRID, 100) == ["parent"] + ["grid"] * 6
    assert plan(GRID, 7) == ["parent"] + ["grid"] * 6
    assert plan(GRID, 5) == ["parent"] + ["sobol"] * 4
    samplers = Samplers(GRID, 1, {"rows": 10.0, "fuzzy": 0.0})
    tried = [samplers.propose(plan_trial(GRID, 100, number), number, []) for number in range(1, 7)]
    assert tried == list(GRID.grid())


def test_sobol_points_come_first_then_tpe_then_local_steps() -> None:
    assert plan(SPACE, 100) == ["parent"] + ["sobol"] * 94 + ["local"] * 5
    long = plan(SPACE, 500)
    assert (long.count("sobol"), long.count("tpe"), long.count("local")) == (200, 254, 45)
    wide = plan(WIDE, 101)
    assert (wide.count("sobol"), wide.count("tpe"), wide.count("local")) == (40, 50, 10)
    assert {plan_trial(SPACE, 500, number).fold_left_out for number in range(1, 201)} == {UNSEEN}
    assert [plan_trial(SPACE, 500, number).fold_left_out for number in range(201, 207)] == [0, 1, 2, 3, 4, 0]


@pytest.mark.parametrize("budget", [2, 3, 10, 51, 200, 300])
def test_every_number_up_to_the_budget_has_a_plan(budget: int) -> None:
    assert len(plan(SPACE, budget)) == budget


@pytest.mark.parametrize("number", [300, 301, 480])
def test_a_proposal_follows_from_the_seed_and_the_trials_before(number: int) -> None:
    proposal = plan_trial(SPACE, 500, number)
    chance = np.random.default_rng(3)
    tried: list[tuple[int, dict[str, float], float]] = [
        (place, SPACE.settings(chance.uniform(size=3)), float(chance.normal())) for place in range(30)
    ]
    first, again = (Samplers(SPACE, 5, PARENT).propose(proposal, number, tried) for _ in range(2))
    gone_on = Samplers(SPACE, 5, PARENT)
    gone_on.propose(plan_trial(SPACE, 500, number - 5), number - 5, tried[:20])
    assert first == again
    assert gone_on.propose(proposal, number, tried) == first  # what was proposed before changes nothing
    assert all(knob.low <= first[knob.name] <= knob.high for knob in SPACE.knobs)


def test_tpe_varies_choices_and_switches() -> None:
    space = Space((*WIDE.knobs[:7], *GRID.knobs))
    proposal = plan_trial(space, 301, 150)
    assert proposal.origin == Origin.TPE
    chance = np.random.default_rng(3)
    tried = [(place, space.settings(chance.uniform(size=9)), float(place)) for place in range(20)]
    settings = Samplers(space, 1, {}).propose(proposal, 150, tried)
    assert settings["rows"] in (10, 20, 50)
    assert settings["fuzzy"] in (0, 1)


TEXTS = Space((*WIDE.knobs[:8], parse_knob("mm=2<75%,100%,3,25%")))


@pytest.mark.parametrize("number", [45, 99])
def test_texts_are_categories_of_tpe_and_of_local_steps(number: int) -> None:
    proposal, parent = (
        plan_trial(TEXTS, 100, number),
        {**dict.fromkeys((f"k{at}" for at in range(8)), 0.5), "mm": "2<75%"},
    )
    assert proposal.origin == (Origin.TPE if number == 45 else Origin.LOCAL)
    chance, proposed = np.random.default_rng(3), set()
    for seed in range(12):
        tried = [(0, parent, 60.0)]
        tried += [(place, TEXTS.settings(chance.uniform(size=9)), 50.0) for place in range(1, 20)]
        settings = Samplers(TEXTS, seed, parent).propose(proposal, number, tried)
        assert settings == Samplers(TEXTS, seed, parent).propose(proposal, number, tried)
        assert settings["mm"] in ("2<75%", "100%", 3.0, "25%")
        proposed.add(settings["mm"])
    assert len(proposed) > 2


def found_gain(seed: int, trials: int = 200, queries: int = 60) -> float:
    """The part of the gain of a planted optimum of three knobs that a study's winner has; queries differ in how they like a setting."""
    chance = np.random.default_rng(seed)
    optimum = chance.uniform(0.15, 0.85, 3)
    shifts = chance.normal(0.0, 0.1, (queries, 3))
    heights = chance.uniform(5, 40, queries)
    base = chance.uniform(20, 50, queries)

    def scores(settings: dict[str, float]) -> Any:
        point = np.array(SPACE.positions(settings))
        return base + heights * np.exp(-(((point - optimum - shifts) / 0.35) ** 2).sum(axis=1))

    def truth(settings: dict[str, float]) -> float:
        point = np.array(SPACE.positions(settings))
        return math.exp(-float((((point - optimum) / 0.37) ** 2).sum()))

    samplers, rows, settings, folds = Samplers(SPACE, seed, PARENT), [], [], []
    for number in range(trials):
        proposal = plan_trial(SPACE, trials, number)
        tried = []
        if proposal.fold_left_out != UNSEEN:
            seen = _evidence(rows, [SPACE.distance(item, PARENT) for item in settings], folds, seed)
            tried = [(place, settings[place], mean) for place, mean in seen.seen_without(proposal.fold_left_out)]
        settings.append(samplers.propose(proposal, number, tried))
        folds.append(proposal.fold_left_out)
        rows.append(scores(settings[-1]))
    winner = _evidence(rows, [SPACE.distance(item, PARENT) for item in settings], folds, seed).seen_choices[-1]
    return truth(settings[winner])


def _evidence(rows: list[Any], distances: list[float], folds: list[int], seed: int) -> Evidence:
    scores = np.array(rows)
    ones = np.ones(len(rows), np.bool_)
    return Evidence(scores, np.ones(scores.shape[1]), None, np.array(distances), np.array(folds), ones, seed)


def test_a_planted_optimum_of_three_knobs_is_found_within_200_trials() -> None:
    found = [found_gain(seed) for seed in range(30)]
    assert sum(part >= 0.9 for part in found) >= 27
