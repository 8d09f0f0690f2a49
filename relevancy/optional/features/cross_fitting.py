"""What a model gains on queries that it was not fitted on.

Queries are drawn into five folds, linked ones together. For each fold a model is fitted on the other four and ranks the queries of the
fold: the mean of these scores is what this way of fitting is worth. The model that is used is fitted on all queries; its score there is
what it looks like.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from relevancy.scoring.arrays import BoolArray, FloatArray, IntArray
from relevancy.scoring.rounding import format_rounded, format_signed
from relevancy.statistics import Differences, find_cross_fitted_interval

from .dataset import FOLDS, Dataset
from .orders import OrderScorer

MIN_UNITS = 20  # independent queries: fewer cannot tell models apart


class TooFewQueries(ValueError):
    """Fewer independent queries with a score than models need. The message is written for users."""


@dataclass(frozen=True, eq=False)
class CrossFit[Model]:
    """A model and what it gains.

    Attributes:
        model: fitted on all queries. by_fold: [5] each fitted without the queries of its fold.
        folds: [Q] the fold of each query.
        used: [Q] which queries count.
        seen: [Q] scores of `model`. cross_fitted: [Q] of the model of the query's fold. baseline: [Q] of what it is compared with.
    """

    model: Model
    by_fold: Sequence[Model]
    folds: IntArray
    used: BoolArray
    seen: FloatArray
    cross_fitted: FloatArray
    baseline: FloatArray
    baseline_name: str


def cross_fit[Model](
    dataset: Dataset,
    scorer: OrderScorer,
    fit: Callable[[BoolArray], Model],
    predict: Callable[[Model], FloatArray],
    *,
    seed: int,
    run_values: FloatArray | None = None,
    run_name: str = "",
) -> CrossFit[Model]:
    """Fits a model on all queries and on four folds of five.

    fit: returns a model of the queries that are True. predict: returns [D] the values by which it orders documents.
    run_values: [D] by which a run orders the documents; it is compared with the model. Without one the best feature alone is, chosen as
    the model is: on the other folds. Raises `TooFewQueries`.
    """
    used = scorer.used()
    units = len(np.unique(dataset.units[used]))
    if units < MIN_UNITS:
        raise TooFewQueries(
            f"{units} independent queries have rated documents that were logged and can be scored; {MIN_UNITS} are needed. "
            "Rate more queries, and log again."
        )
    folds = dataset.folds(seed)
    model = fit(used)
    by_fold = [fit(used & (folds != fold)) for fold in range(FOLDS)]
    cross_fitted = np.full(len(used), np.nan)
    for fold, of_fold in enumerate(by_fold):
        cross_fitted[folds == fold] = scorer.points(predict(of_fold))[folds == fold]
    if run_values is not None:
        baseline, name = scorer.points(run_values), run_name
    else:
        baseline, name = _best_feature(dataset, scorer, used, folds)
    seen = scorer.points(predict(model))
    return CrossFit(model, by_fold, folds, used, seen, cross_fitted, baseline, name)


def _best_feature(dataset: Dataset, scorer: OrderScorer, used: BoolArray, folds: IntArray) -> tuple[FloatArray, str]:
    points = [scorer.points(column) for column in dataset.values.T]

    def best(queries: BoolArray) -> int:
        return int(np.argmax([scorer.mean(of_feature, queries) for of_feature in points]))

    baseline = np.full(len(used), np.nan)
    for fold in range(FOLDS):
        baseline[folds == fold] = points[best(used & (folds != fold))][folds == fold]
    return baseline, f"the best feature alone, {dataset.names[best(used)]}"


def summarize(dataset: Dataset, fitted: CrossFit[Any]) -> dict[str, Any]:
    """Returns what a model gains, as JSON: points, an interval of the cross-fitted difference, and a sentence."""
    used, weights = fitted.used, dataset.weights[fitted.used]
    _, units = np.unique(dataset.units[used], return_inverse=True)
    by_query = Differences.build(fitted.cross_fitted[used] - fitted.baseline[used], weights)
    differences = by_query.merged(units)
    interval = find_cross_fitted_interval([differences])
    seen = float(np.average(fitted.seen[used], weights=weights))
    cross_fitted = float(np.average(fitted.cross_fitted[used], weights=weights))
    baseline = float(np.average(fitted.baseline[used], weights=weights))
    low, high = (interval.low, interval.high) if interval else (None, None)
    is_better = low is not None and low > 0
    ends = "" if low is None or high is None else f" ({format_signed(low, 1)} to {format_signed(high, 1)})"
    sentence = (
        f"{'Better than' if is_better else 'No improvement shown over'} {fitted.baseline_name}: "
        f"{format_signed(differences.mean, 1)} points{ends}. On queries that it was not fitted on, the model scores "
        f"{format_rounded(cross_fitted, 1)}; on those that it was fitted on, {format_rounded(seen, 1)}."
    )
    return {
        "queries": int(used.sum()),
        "units": len(differences),
        "seen": seen,
        "cross_fitted": cross_fitted,
        "baseline": baseline,
        "baseline_name": fitted.baseline_name,
        "gain": differences.mean,
        "low": low,
        "high": high,
        "is_better": is_better,
        "sentence": sentence,
    }
