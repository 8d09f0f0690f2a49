import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from relevancy.statistics import Differences, StatisticsError, compare_means, compare_paired, merge_units

from .test_differences import PUBLISHED, points


def randomisation_test(differences, **options):
    return compare_paired(differences, **options).p


RUN_SCORES = np.array([(60, 62, 70), (40, 40, 52), (80, 85, 82), (20, 25, 35), (55, 50, 66), (70, 70, 71)], dtype=float)


def test_worked_example():
    assert randomisation_test(Differences.build(PUBLISHED)) == 512 / 4096


@given(st.lists(points, min_size=2, max_size=8), st.data())
@settings(max_examples=50)
def test_exact_p_is_that_of_every_pattern(values, data):
    weights = data.draw(st.lists(st.sampled_from([1.0, 2.0, 0.5]), min_size=len(values), max_size=len(values)))
    observed = abs(sum(w * d for w, d in zip(weights, values, strict=True))) / sum(weights)
    hits = sum(
        abs(sum(s * w * d for s, w, d in zip(signs, weights, values, strict=True))) / sum(weights) >= observed - 1e-9
        for signs in itertools.product((1, -1), repeat=len(values))
    )
    assert randomisation_test(Differences.build(values, weights)) == pytest.approx(hits / 2 ** len(values))


def test_random_p_agrees_with_scipy():
    values = np.random.default_rng(3).normal(2, 9, 60)
    expected = scipy.stats.permutation_test(
        (values, np.zeros(60)), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=40_000, rng=1
    ).pvalue
    assert randomisation_test(Differences.build(values)) == pytest.approx(expected, abs=0.012)


@pytest.mark.parametrize("n", [15, 16, 17, 23, 24, 1001])
def test_random_p_of_no_difference_and_of_a_clear_one(n):
    assert randomisation_test(Differences.build([0.0] * n)) == 1.0
    assert randomisation_test(Differences.build([5.0] * n), permutations=999) <= 2 / 1000 + 2 * 2.0**-n * 999


def test_random_p_repeats():
    differences = Differences.build(np.random.default_rng(5).normal(1, 9, 40))
    assert randomisation_test(differences) == randomisation_test(differences)
    assert randomisation_test(differences, seed=1) != randomisation_test(differences, seed=2)


def test_random_p_is_uniform_without_a_difference():
    generator = np.random.default_rng(11)
    p_values = [
        randomisation_test(Differences.build(generator.normal(0, 10, 30)), permutations=400, seed=seed)
        for seed in range(400)
    ]
    assert scipy.stats.kstest(p_values, "uniform").pvalue > 0.01


def test_one_query_has_no_p():
    assert randomisation_test(Differences.build([4.0])) is None
    assert randomisation_test(Differences.build([])) is None


def test_compare_means_worked_example():
    comparison = compare_means(RUN_SCORES)
    assert comparison.is_exact
    assert comparison.means == pytest.approx([54.1666667, 55.3333333, 62.6666667], abs=5e-8)
    assert comparison.p[0, 1] == pytest.approx(0.9547325, abs=5e-8)
    assert comparison.p[0, 2] == pytest.approx(0.0185185, abs=5e-8)
    assert comparison.p[1, 2] == pytest.approx(0.0668724, abs=5e-8)
    assert (comparison.p == comparison.p.T).all()


def test_compare_means_random_is_close_to_exact(monkeypatch):
    exact = compare_means(RUN_SCORES).p
    monkeypatch.setattr("relevancy.statistics.randomisation.MAX_EXACT_ARRANGEMENTS", 0)
    random = compare_means(RUN_SCORES)
    assert not random.is_exact
    assert random.p == pytest.approx(exact, abs=0.02)


def test_compare_means_of_two_runs_is_the_sign_test():
    values = np.random.default_rng(2).normal(3, 8, (12, 2))
    expected = randomisation_test(Differences.build(values[:, 1] - values[:, 0]))
    assert compare_means(values).p[0, 1] == pytest.approx(expected)


def test_compare_means_of_more_queries_than_a_block_is_the_sign_test():
    values = np.random.default_rng(5).normal(50, 20, (600, 2))
    expected = randomisation_test(Differences.build(values[:, 1] - values[:, 0]))
    assert 0.05 < expected < 0.95
    assert compare_means(values).p[0, 1] == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("scores", [np.empty((0, 3)), np.ones((4, 1)), np.array([[1.0, np.nan]]), np.ones(3)])
def test_compare_means_refuses(scores):
    with pytest.raises(StatisticsError):
        compare_means(scores)


def test_compare_means_of_merged_units_agrees_with_one_query_for_each():
    """Two variants with the same scores count as one query of twice the weight."""
    scores = np.array([[60, 62, 70], [60, 62, 70], [40, 40, 52], [80, 85, 82]], dtype=float)
    merged, weights = merge_units(scores, np.ones(4), np.array([0, 0, 1, 2]))
    result = compare_means(merged, weights)
    expected = compare_means(scores[1:], np.array([2.0, 1.0, 1.0]))
    assert result.is_exact and result.p.tolist() == expected.p.tolist()
    assert result.means.tolist() == expected.means.tolist()
