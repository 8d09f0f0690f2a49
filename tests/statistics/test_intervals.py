import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.intervals import measure_coverage
from relevancy.statistics import Differences, Interval, compare_paired, find_interval, t_test

from .test_differences import PUBLISHED, points


@pytest.mark.parametrize(
    ("values", "weights", "mean", "p", "ends"),
    [
        (PUBLISHED, None, 3.4166667, 0.125, (-0.8794707, 9.1629421)),
        (PUBLISHED, range(1, 13), 3.7564103, 0.1875, (-1.9053926, 12.0018310)),
        (range(1, 9), None, 4.5, 0.0078125, (2.3333333, 6.6666667)),
        (range(10, 15), None, 12, 0.0625, (0, 13.9632432)),
        ([40] * 5 + [0] * 15, None, 10, 0.0579942, (0, 19.9860154)),
        ([40] * 6 + [0] * 14, None, 12, 0.0280972, (3.1982899, 22.1370550)),
        ([100] + [0] * 41, None, 100 / 42, 1, (-2.4274785, 10.6920630)),
        (
            [-20, -16, -13, -11, -6, -3, -2, -2, -1, *[0] * 28, 4, 15, 91, 97, 100],
            None,
            5.5476190,
            0.2421758,
            (-2.5432017, 16.5481871),
        ),
        (range(-10, 10), None, -0.5, 0.7305269, (-3.2688106, 2.2688106)),
    ],
)
def test_worked_examples(values, weights, mean, p, ends):
    """The examples of statistics.md, to the digits given there."""
    comparison = compare_paired(Differences.build(list(values), weights and list(weights)))
    assert comparison.differences.mean == pytest.approx(mean, abs=5e-8)
    assert comparison.p == pytest.approx(p, abs=5e-8)
    assert (comparison.interval.low, comparison.interval.high) == pytest.approx(ends, abs=5e-8)
    assert comparison.interval.is_reliable == (len(values) >= 20)


def test_worked_example_at_another_level():
    interval = find_interval(Differences.build(PUBLISHED), alpha=0.1)
    assert (interval.low, interval.high) == pytest.approx((-0.0887490, 7.9328829), abs=5e-8)


def test_t_test_of_the_worked_example():
    assert t_test(Differences.build(PUBLISHED)) == pytest.approx((1.7504172, 0.1078481), abs=5e-8)


@given(st.lists(points, min_size=3, max_size=40))
@settings(max_examples=50)
def test_t_test_agrees_with_scipy(values):
    figures = t_test(Differences.build(values))
    if figures is None:
        assert max(values) - min(values) <= 1e-9
        return
    expected = scipy.stats.ttest_1samp(values, 0)
    assert figures == (pytest.approx(expected.statistic, rel=1e-6), pytest.approx(expected.pvalue, rel=1e-6, abs=1e-12))


@given(
    st.lists(st.one_of(st.just(0.0), points), min_size=2, max_size=60),
    st.sampled_from([0.01, 0.05, 0.1]),
    st.data(),
)
@settings(max_examples=150, deadline=None)
def test_p_is_below_alpha_exactly_if_0_is_outside(values, alpha, data):
    weights = data.draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=len(values), max_size=len(values)))
    differences = Differences.build(values, weights)
    interval, p = find_interval(differences, alpha=alpha), compare_paired(differences).p
    assert (p < alpha) == (interval.low > 0 or interval.high < 0)
    assert -100 <= interval.low <= differences.mean + 1e-9
    assert differences.mean - 1e-9 <= interval.high <= 100


def interval_of_every_pattern(values, weights, alpha):
    """Computes the same interval with loops."""
    n, total = len(values), sum(weights)
    shares = [weight / total for weight in weights]
    mean = sum(s * d for s, d in zip(shares, values, strict=True))
    parts = [s * (d - mean) for s, d in zip(shares, values, strict=True)]
    squares = sum(u**2 for u in parts)
    error, skewness = math.sqrt(n / (n - 1) * squares), sum(u**3 for u in parts) / (6 * squares**1.5)
    t = scipy.stats.t.ppf(1 - alpha / 2, n - 1)
    low = mean - error * (t + max(0, -skewness) * (1 + 2 * t * t))
    high = mean + error * (t + max(0, skewness) * (1 + 2 * t * t))
    lower, upper, hits = [], [], 0
    for signs in itertools.product((1, -1), repeat=n):
        sides = []
        for side in (1, -1):
            chosen = [(s, d) for sign, s, d in zip(signs, shares, values, strict=True) if sign == side]
            sides.append(sum(s * d for s, d in chosen) / sum(s for s, _ in chosen) if chosen else None)
        lower.append(-math.inf if None in sides else min(sides))
        upper.append(math.inf if None in sides else max(sides))
        flipped = sum(sign * s * d for sign, s, d in zip(signs, shares, values, strict=True))
        hits += abs(flipped) >= abs(mean) - 1e-9
    k = math.ceil(alpha * 2**n)
    test_low, test_high = sorted(lower)[k - 1], sorted(upper, reverse=True)[k - 1]
    low = max(min(low, test_low) if math.isfinite(test_low) else low, -100)
    high = min(max(high, test_high) if math.isfinite(test_high) else high, 100)
    if hits / 2**n < alpha and low <= 0 <= high:
        return (test_low, high) if mean > 0 else (low, test_high)
    return (low, high) if hits / 2**n < alpha else (min(low, 0), max(high, 0))


@pytest.mark.parametrize("n", [3, 5, 8, 10])
@pytest.mark.parametrize("seed", range(5))
def test_interval_agrees_with_every_pattern(n, seed):
    generator = np.random.default_rng(seed)
    values = (generator.exponential(12, n) - 4) * (generator.random(n) < 0.8)
    weights = generator.uniform(0.5, 3, n)
    values[0] += 1
    interval = find_interval(Differences.build(values, weights))
    expected = interval_of_every_pattern(values.tolist(), weights.tolist(), 0.05)
    assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-7)


def test_equal_differences_have_an_interval_of_no_width():
    assert find_interval(Differences.build([2.5] * 30)) == Interval(2.5, 2.5, is_reliable=True)
    assert find_interval(Differences.build([0.0] * 8)) == Interval(0, 0, is_reliable=False)


def test_equal_differences_of_too_few_queries_reach_0():
    """p of three queries cannot be below .25, however equal they are."""
    assert find_interval(Differences.build([5.0] * 3)) == Interval(0, 5, is_reliable=False)


@pytest.mark.parametrize(("weights", "expected"), [([1] * 20, True), ([0.1] * 20, True), ([30] + [1] * 25, False)])
def test_an_interval_is_reliable_from_20_queries_of_equal_weight_on(weights, expected):
    values = np.random.default_rng(1).normal(0, 9, len(weights))
    assert find_interval(Differences.build(values, weights)).is_reliable == expected


@pytest.mark.parametrize("values", [[100.0, 97.0, 91.0, -100.0, 99.0, 98.0], [-5.0, 90.0]])
def test_no_interval_reaches_beyond_100_points(values):
    interval = find_interval(Differences.build(values))
    assert interval.high == 100
    assert interval.low >= -100


@pytest.mark.parametrize("values", [[], [3.0]])
def test_no_interval(values):
    assert find_interval(Differences.build(values)) is None


def test_interval_turns_with_the_differences():
    values = np.random.default_rng(6).exponential(9, 50) - 5
    first, second = find_interval(Differences.build(values)), find_interval(Differences.build(-values))
    assert (first.low, first.high) == pytest.approx((-second.high, -second.low))


@pytest.mark.parametrize("queries", [20, 42, 100])
def test_interval_covers_the_mean_of_differences_that_are_mostly_0(queries):
    """benchmarks/intervals.py does the same at length."""
    coverage = measure_coverage(queries, 0.65, samples=400)
    assert coverage.covered >= 0.925
    assert coverage.agreeing == 1
