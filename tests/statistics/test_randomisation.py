import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from relevancy.statistics import Differences, StatisticsError, compare_means, compare_paired, merge_units
from relevancy.statistics.randomisation import SignFlipLimit, SignFlips, _range_p, flip_signs

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


def _sample(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Differences of 20,500 queries, most of them 0 and the others skewed, with weights."""
    generator = np.random.default_rng(seed)
    values = np.where(generator.random(20_500) < 0.7, 0.0, generator.gamma(1.5, 20, 20_500) - 30 + seed / 4)
    return np.clip(values, -100, 100), generator.uniform(0.1, 3, 20_500)


@pytest.mark.parametrize("seed", range(4))
def test_above_20000_queries_the_figures_are_those_of_the_limit_and_agree_with_resampling(seed, monkeypatch):
    values, weights = _sample(seed)
    differences = Differences.build(values, weights)
    limit = compare_paired(differences)
    monkeypatch.setattr("relevancy.statistics.randomisation.MAX_RESAMPLED", len(values))
    resampled = compare_paired(differences)
    assert limit.p != resampled.p
    assert limit.p == pytest.approx(resampled.p, abs=0.02)
    assert limit.interval.low == pytest.approx(resampled.interval.low, abs=0.05)
    assert limit.interval.high == pytest.approx(resampled.interval.high, abs=0.05)
    assert (limit.t, limit.p_t, limit.carriers) == (resampled.t, resampled.p_t, resampled.carriers)


@pytest.mark.parametrize("alpha", [0.05, 0.01])
@pytest.mark.parametrize("shift", [0.0, 0.2, 0.35, 0.5, 2.0])
def test_in_the_limit_p_is_below_alpha_exactly_if_0_is_outside_the_ends(alpha, shift):
    flips = flip_signs(Differences.build(np.random.default_rng(5).normal(shift, 30, 21_000)))
    low, high = flips.find_ends(alpha)
    assert (flips.p < alpha) == (not low <= 0 <= high)


def test_there_is_no_limit_where_one_query_has_most_of_the_weight():
    values, weights = np.random.default_rng(6).normal(1, 30, 21_000), np.ones(21_000)
    weights[0] = 20_000
    flips = flip_signs(Differences.build(values, weights))
    assert isinstance(flips, SignFlips)
    low, high = flips.find_ends(0.05)
    assert low < flips.mean < high
    weights[0] = 100
    assert isinstance(flip_signs(Differences.build(values, weights)), SignFlipLimit)


def test_in_the_limit_equal_differences():
    zero = compare_paired(Differences.build(np.zeros(30_000)))
    assert (zero.p, zero.interval.low, zero.interval.high) == (1.0, 0.0, 0.0)
    one = compare_paired(Differences.build(np.ones(30_000)))
    assert (one.p, one.interval.low, one.interval.high) == pytest.approx((0.0, 1.0, 1.0))


def test_above_20000_queries_all_pairs_of_runs_agree_with_resampling(monkeypatch):
    generator = np.random.default_rng(8)
    scores = np.clip(50 + generator.normal(0, 25, (20_500, 4)) + [0, 0.2, 0.5, 0.9], 0, 100)
    weights = generator.uniform(0.5, 2, len(scores))
    limit = compare_means(scores, weights)
    monkeypatch.setattr("relevancy.statistics.randomisation.MAX_RESAMPLED", len(scores))
    resampled = compare_means(scores, weights)
    assert limit.means == pytest.approx(resampled.means)
    assert limit.p == pytest.approx(resampled.p, abs=0.02)
    assert (np.diagonal(limit.p) == 1).all()


@pytest.mark.parametrize(("width", "count"), [(3.3145, 3), (2.7718, 2), (3.8577, 5), (0.5, 4), (0.0, 3)])
def test_range_of_normal_numbers_is_the_studentized_range_without_an_estimated_deviation(width, count):
    expected = scipy.stats.studentized_range.sf(width, count, np.inf)
    assert _range_p(width, count) == pytest.approx(expected, abs=1e-6)
