"""Linear models: a sum of features with weights that are not below 0, because no engine takes a negative boost everywhere.

Coordinate ascent changes one weight at a time as long as the chosen measure gets better (Metzler & Croft, "Linear feature-based models
for information retrieval", Information Retrieval 10, 2007). Ridge fits grades by least squares within each query, with a penalty on the
squares of the weights. Weights add up to 1 for features that vary by one standard deviation.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from relevancy.scoring.arrays import BoolArray, FloatArray
from relevancy.statistics import SEED

from .dataset import Dataset
from .orders import OrderScorer

STEPS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.1, 1.33, 2.0, 4.0, 10.0)  # what a weight is multiplied by
FROM_ZERO = (0.02, 0.05, 0.1, 0.25, 0.5, 1.0)  # of the sum of the others, for a weight of 0
MAX_ROUNDS = 20
MIN_GAIN = 1e-6  # points
PENALTIES = (100.0, 10.0, 1.0, 0.1, 0.01)  # of ridge, for each document


def deviations(dataset: Dataset) -> FloatArray:
    """Returns [F] the standard deviation of each feature over the rated documents; 1 for one that does not vary."""
    rated = dataset.filled[dataset.is_rated]
    found = rated.std(axis=0) if len(rated) else np.ones(len(dataset.names))
    return np.where(found > 0, found, 1.0)


def fit_ascent(dataset: Dataset, scorer: OrderScorer, train: BoolArray) -> FloatArray:
    """Returns [F] weights that maximize the mean score of the queries `train`, by coordinate ascent from equal weights and from
    the best feature alone."""
    scales = deviations(dataset)
    scaled = dataset.filled / scales
    width = len(dataset.names)

    def mean(weights: FloatArray) -> float:
        return scorer.mean(scorer.points(scaled @ weights), train)

    alone = [mean(row) for row in np.eye(width)]
    starts = [np.full(width, 1.0 / width), np.eye(width)[int(np.argmax(alone))]]
    climbed = [_climb(start, mean) for start in starts]
    weights, _ = max(climbed, key=lambda pair: pair[1])
    return np.asarray(weights / scales)


def _climb(weights: FloatArray, mean: Callable[[FloatArray], float]) -> tuple[FloatArray, float]:
    """Returns the weights at which no step of one of them helps any more, and their mean."""
    generator = np.random.Generator(np.random.PCG64(SEED))
    best = mean(weights)
    for _ in range(MAX_ROUNDS):
        before = best
        for feature in generator.permutation(len(weights)).tolist():
            weight, total = float(weights[feature]), float(weights.sum())
            for value in [weight * step for step in STEPS] if weight > 0 else [total * share for share in FROM_ZERO]:
                changed = weights.copy()
                changed[feature] = value
                if changed.sum() <= 0:
                    continue
                found = mean(changed)
                if found > best + MIN_GAIN:
                    best, weights = found, changed
        weights = weights / weights.sum()
        if best <= before + MIN_GAIN:
            break
    return weights, best


def fit_ridge(dataset: Dataset, scorer: OrderScorer, train: BoolArray) -> FloatArray:
    """Returns [F] weights by least squares within the queries `train`; of several penalties, the one whose mean score there is
    best, and of equal ones the largest."""
    scales = deviations(dataset)
    scaled = dataset.filled / scales
    chosen = dataset.is_rated & train[dataset.queries]
    queries, values, grades = dataset.queries[chosen], scaled[chosen], dataset.grades[chosen]
    counts = np.bincount(queries, minlength=len(train))
    share = np.sqrt(dataset.weights[queries] / np.maximum(counts[queries], 1))

    def centred(column: FloatArray) -> FloatArray:
        means = np.bincount(queries, column, len(train)) / np.maximum(counts, 1)
        return np.asarray((column - means[queries]) * share)

    matrix = np.column_stack([centred(column) for column in values.T]) if len(values) else values
    target = centred(grades)
    # Only where a model is fitted: importing takes a third of a second of every start.
    from scipy.optimize import nnls  # noqa: PLC0415

    best, best_mean = np.full(len(scales), 1.0 / len(scales)), -np.inf
    for penalty in PENALTIES:
        rows = np.sqrt(penalty * train.sum()) * np.eye(len(scales))
        weights, _ = nnls(np.vstack([matrix, rows]), np.concatenate([target, np.zeros(len(scales))]))
        if weights.sum() <= 0:
            continue
        found = scorer.mean(scorer.points(scaled @ weights), train)
        if found > best_mean + MIN_GAIN:
            best, best_mean = weights / weights.sum(), found
    return np.asarray(best / scales)
