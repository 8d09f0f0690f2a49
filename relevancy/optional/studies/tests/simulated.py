"""Studies whose truth is known, for tests and for benchmarks/tuning.py."""

import numpy as np

from relevancy.optional.studies.choice import UNSEEN, Evidence
from relevancy.scoring.arrays import FloatArray


def simulate(queries: int, trials: int, shared: float, *, is_null: bool, seed: int) -> tuple[Evidence, FloatArray]:
    """Returns the scores of settings that truly differ by a point and of queries that differ by 20, and what each setting truly gains.

    shared: the part of the variance of a query that all settings have. is_null: no setting gains anything.
    """
    chance = np.random.default_rng(seed)
    truth = np.zeros(trials) if is_null else chance.normal(0.0, 1.0, trials)
    truth[0] = 0.0
    of_all = chance.normal(0.0, 20 * shared**0.5, (1, queries))
    gains = truth[:, np.newaxis] + of_all + chance.normal(0.0, 20 * (1 - shared) ** 0.5, (trials, queries))
    gains[0] = 0.0
    scores = chance.uniform(20, 80, queries) + gains
    none, ones = np.full(trials, UNSEEN), np.ones(trials, np.bool_)
    return Evidence(scores, np.ones(queries), None, chance.uniform(size=trials), none, ones, seed), truth


def simulate_smooth(queries: int, trials: int, best: float, *, seed: int) -> tuple[Evidence, FloatArray]:
    """Returns the same for three knobs with a smooth response, whose optimum is `best` points above the parent; 0 for no response.

    What a setting does to a query follows its knobs smoothly, too, and differs by 20 points between queries.
    """
    chance = np.random.default_rng(seed)
    settings = chance.uniform(size=(trials, 3))
    settings[0] = 0.5
    optimum = chance.uniform(0.15, 0.85, 3)
    away = ((settings - optimum) ** 2).sum(axis=1)
    truth = np.maximum(best / max(away[0], 0.05) * (away[0] - away), -30.0)
    frequencies, phases = 4 * chance.normal(size=(3, 40)), chance.uniform(0, 2 * np.pi, 40)
    waves = np.cos(settings @ frequencies + phases) - np.cos(settings[0] @ frequencies + phases)
    gains = waves @ chance.normal(size=(40, queries))
    gains *= 20 / gains[1:].std()
    scores = chance.uniform(20, 80, queries) + gains + truth[:, np.newaxis]
    distances = np.sqrt(((settings - settings[0]) ** 2).mean(axis=1))
    none, ones = np.full(trials, UNSEEN), np.ones(trials, np.bool_)
    return Evidence(scores, np.ones(queries), None, distances, none, ones, seed), truth


def true_gain(found: Evidence, truth: FloatArray) -> float:
    """Returns what the settings that were chosen for the folds truly gain."""
    choices = found._fold_choices[:, :, -1]
    return float(np.mean([truth[of_draw[folds]].mean() for folds, of_draw in zip(found.folds, choices, strict=True)]))
