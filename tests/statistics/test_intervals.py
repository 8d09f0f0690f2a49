import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from relevancy.statistics import Differences, IntervalKind, find_interval, t_test

from .test_differences import PUBLISHED, points


def test_worked_example():
    differences = Differences.build(PUBLISHED)
    interval = find_interval(differences)
    assert (interval.low, interval.high) == (pytest.approx(-0.8794707, abs=5e-8), pytest.approx(7.7128041, abs=5e-8))
    assert (interval.kind, interval.is_reliable) == (IntervalKind.T, False)
    assert t_test(differences) == (pytest.approx(1.7504172, abs=5e-8), pytest.approx(0.1078481, abs=5e-8))


@given(st.lists(points, min_size=3, max_size=40))
@settings(max_examples=50)
def test_t_test_agrees_with_scipy(values):
    figures = t_test(Differences.build(values))
    if figures is None:
        assert max(values) - min(values) <= 1e-9
        return
    expected = scipy.stats.ttest_1samp(values, 0)
    assert figures == (pytest.approx(expected.statistic, rel=1e-6), pytest.approx(expected.pvalue, rel=1e-6, abs=1e-12))


def test_equal_differences_have_an_interval_of_no_width():
    interval = find_interval(Differences.build([2.5] * 30))
    assert (interval.low, interval.high, interval.kind) == (2.5, 2.5, IntervalKind.EQUAL)


@pytest.mark.parametrize(("values", "ends"), [([100.0, 97.0, 91.0], (84.6, 100.0)), ([-5.0, 90.0], (-100.0, 100.0))])
def test_no_interval_reaches_beyond_100_points(values, ends):
    interval = find_interval(Differences.build(values))
    assert (interval.low, interval.high) == (pytest.approx(ends[0], abs=0.05), ends[1])


@pytest.mark.parametrize("values", [[], [3.0]])
def test_no_interval(values):
    assert find_interval(Differences.build(values)) is None


def brute_force_interval(values, weights, resamples):
    """Computes the same interval one resample at a time."""
    n = len(values)
    generator = np.random.Generator(np.random.PCG64(1))
    sample = Differences.build(values, weights)
    quotients = []
    for _ in range(resamples):
        drawn = generator.integers(n, size=n)
        resample = Differences.build(values[drawn], weights[drawn])
        if resample.standard_error:
            quotients.append((resample.mean - sample.mean) / resample.standard_error)
    low, high = np.quantile(quotients, [0.025, 0.975])
    return sample.mean - high * sample.standard_error, sample.mean - low * sample.standard_error


@pytest.mark.parametrize("has_weights", [False, True])
def test_bootstrap_agrees_with_brute_force(has_weights):
    generator = np.random.default_rng(4)
    values = generator.exponential(6, 40) - 4
    weights = generator.uniform(0.5, 3, 40) if has_weights else np.ones(40)
    interval = find_interval(Differences.build(values, weights))
    low, high = brute_force_interval(values, weights, 4000)
    assert interval.kind is IntervalKind.BOOTSTRAP
    assert interval.low == pytest.approx(low, abs=0.25)
    assert interval.high == pytest.approx(high, abs=0.25)


def test_bootstrap_drops_resamples_without_variance():
    interval = find_interval(Differences.build([0.0] * 19 + [10.0]))
    assert np.isfinite([interval.low, interval.high]).all()
    assert interval.low <= 0.5 <= interval.high


def test_bootstrap_covers_the_true_mean():
    """Nominal 95 %: of 300 samples of 30 skewed differences with mean 2, at least 90 % of the intervals contain it."""
    generator = np.random.default_rng(9)
    covered = 0
    for _ in range(300):
        interval = find_interval(Differences.build(generator.exponential(8, 30) - 6), resamples=600)
        covered += interval.low <= 2 <= interval.high
    assert 0.90 <= covered / 300 <= 0.99


def test_bootstrap_repeats_and_moves_with_the_differences():
    values = np.random.default_rng(6).normal(1, 9, 50)
    first, second = find_interval(Differences.build(values)), find_interval(Differences.build(values))
    assert first == second
    shifted = find_interval(Differences.build(values + 10))
    assert shifted.low == pytest.approx(first.low + 10)
    assert shifted.high == pytest.approx(first.high + 10)
