"""Linear models: against worked examples, and on queries of which the answer is known."""

import numpy as np
import pytest

from relevancy.optional.features import linear
from relevancy.optional.features.cross_fitting import TooFewQueries, cross_fit, summarize
from relevancy.optional.features.dataset import Dataset
from relevancy.optional.features.orders import OrderScorer

from .test_files import NAN, make_dataset


def planted(queries: int, weights: list[float], *, noise: float, seed: int = 1, linked: bool = False) -> Dataset:
    """Ten documents for each query, whose grades follow from a weighted sum of features, and noise."""
    generator = np.random.Generator(np.random.PCG64(seed))
    values = generator.gamma(2.0, 1.0, (queries * 10, len(weights)))
    truth = values @ np.array(weights) + generator.normal(0.0, noise, len(values))
    ranks = np.argsort(np.argsort(-truth.reshape(queries, 10), axis=1), axis=1)
    grades = np.choose(np.minimum(ranks, 3), [3, 2, 1, 0]).astype(float).ravel()
    units = np.arange(queries) // 2 if linked else np.arange(queries)
    return make_dataset(values.tolist(), grades.tolist(), [10] * queries, units=units)


def test_points_of_an_order_by_hand() -> None:
    # P@1: the first document of query 1 by f0 is d1, whose grade is 0; by f1 it is d0. Query 2 has no value: both orders are random.
    dataset = make_dataset([[1.0, 5.0], [2.0, NAN], [NAN, NAN], [NAN, 1.0]], [3, 0, 0, 3], [2, 2])
    scorer = OrderScorer(dataset, "P@1")
    assert scorer.points(dataset.values[:, 0])[0] == 0
    assert scorer.points(dataset.values[:, 1]).tolist() == [100, 100]
    assert scorer.mean(np.array([0.0, 100.0]), np.array([True, True])) == 50


def test_unrated_documents_do_not_count() -> None:
    dataset = make_dataset([[9.0], [5.0], [1.0]], [NAN, 3, 0], [3])
    assert OrderScorer(dataset, "P@1").points(dataset.values[:, 0]).tolist() == [100]


def test_equal_values_have_a_random_order() -> None:
    dataset = make_dataset([[1.0]] * 400, [3, 0] * 200, [2] * 200)
    assert 35 < OrderScorer(dataset, "P@1").points(dataset.values[:, 0]).mean() < 65


@pytest.mark.parametrize("fit", [linear.fit_ascent, linear.fit_ridge])
def test_planted_weights_are_found(fit) -> None:  # type: ignore[no-untyped-def]
    dataset = planted(60, [1.0, 3.0, 0.0], noise=0.1)
    scorer = OrderScorer(dataset, "nDCG@5")
    weights = fit(dataset, scorer, np.ones(60, np.bool_))
    assert (weights >= 0).all()
    assert weights[1] / weights[0] == pytest.approx(3.0, rel=0.25)
    assert weights[2] < 0.1 * weights[1]
    assert scorer.points(dataset.filled @ weights).mean() > 97


@pytest.mark.parametrize("fit", [linear.fit_ascent, linear.fit_ridge])
def test_a_harmful_feature_gets_no_weight(fit) -> None:  # type: ignore[no-untyped-def]
    dataset = planted(40, [1.0, -2.0], noise=0.1)
    weights = fit(dataset, OrderScorer(dataset, "nDCG@5"), np.ones(40, np.bool_))
    assert weights[0] > 0
    assert weights[1] == pytest.approx(0, abs=0.05 * weights[0])


def test_cross_fitting_shows_a_planted_gain_and_repeats_itself() -> None:
    dataset = planted(50, [1.0, 1.0], noise=0.3, linked=True)
    scorer = OrderScorer(dataset, "nDCG@5")
    found = [
        cross_fit(
            dataset,
            scorer,
            lambda train: linear.fit_ridge(dataset, scorer, train),
            lambda w: dataset.filled @ w,
            seed=7,
        )
        for _ in range(2)
    ]
    assert (found[0].cross_fitted == found[1].cross_fitted).all()
    folds = found[0].folds
    assert (folds[0::2] == folds[1::2]).all()
    for fold in range(5):  # each query is ranked by the model that has not seen it
        points = scorer.points(dataset.filled @ found[0].by_fold[fold])
        assert (found[0].cross_fitted[folds == fold] == points[folds == fold]).all()
    summary = summarize(dataset, found[0])
    assert summary["is_better"] and summary["units"] == 25
    assert summary["sentence"].startswith("Better than the best feature alone, f")


def test_no_improvement_is_claimed_where_there_is_none() -> None:
    generator = np.random.Generator(np.random.PCG64(5))
    values = generator.gamma(2.0, 1.0, (300, 4))
    grades = generator.integers(0, 4, 300).astype(float)
    dataset = make_dataset(values.tolist(), grades.tolist(), [10] * 30)
    scorer = OrderScorer(dataset, "nDCG@5")
    fitted = cross_fit(
        dataset, scorer, lambda train: linear.fit_ascent(dataset, scorer, train), lambda w: dataset.filled @ w, seed=7
    )
    summary = summarize(dataset, fitted)
    assert summary["seen"] > summary["cross_fitted"]
    assert not summary["is_better"]
    assert summary["sentence"].startswith("No improvement shown over")


def test_a_run_is_the_baseline_where_there_is_one() -> None:
    dataset = planted(30, [1.0, 1.0], noise=0.1)
    scorer = OrderScorer(dataset, "nDCG@5")
    ranks = np.tile(-np.arange(10.0), 30)
    fitted = cross_fit(
        dataset,
        scorer,
        lambda train: linear.fit_ridge(dataset, scorer, train),
        lambda w: dataset.filled @ w,
        seed=7,
        run_values=ranks,
        run_name="run 2",
    )
    assert fitted.baseline_name == "run 2"
    assert (fitted.baseline == scorer.points(ranks)).all()


def test_too_few_queries_are_refused_with_the_reason() -> None:
    dataset = planted(30, [1.0, 1.0], noise=0.1, linked=True)
    scorer = OrderScorer(dataset, "nDCG@5")
    with pytest.raises(TooFewQueries, match="15 independent queries"):
        cross_fit(dataset, scorer, lambda train: np.ones(2), lambda w: dataset.filled @ w, seed=7)
