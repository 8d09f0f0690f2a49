"""Outcomes of interleaving and A/B tests against worked examples and scipy."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2_contingency

from relevancy.optional.outcomes.statistics import Side, measure_ab, measure_interleaving, wilson_interval
from relevancy.statistics import StatisticsError

COUNTS = st.integers(0, 300)


def test_interleaving_worked_example():
    # Δ = (18 + 4/2) / 28 − 1/2 = 20/28 − 14/28 = 6/28; the share of B among 24 decided sessions is .5328872 to .9022696.
    result = measure_interleaving(6, 18, 4)
    assert result.effect == pytest.approx(6 / 28)
    assert result.p == pytest.approx(0.022655844688415527)  # 2 · 190,051 / 2²⁴
    assert result.low == pytest.approx((0.5328872 - 0.5) * 24 / 28, abs=1e-6)
    assert result.high == pytest.approx((0.9022696 - 0.5) * 24 / 28, abs=1e-6)
    assert (result.sessions, result.winner) == (28, Side.B)


@given(COUNTS, COUNTS, COUNTS)
def test_interleaving_is_the_published_difference_and_its_interval_agrees_with_p(wins_a, wins_b, ties):
    result = measure_interleaving(wins_a, wins_b, ties)
    if not wins_a + wins_b:
        assert (result.effect, result.p, result.winner) == (None, None, None)
        return
    n = wins_a + wins_b + ties
    assert result.effect == pytest.approx((wins_b + ties / 2) / n - 0.5, abs=1e-12)
    assert result.p == pytest.approx(binomtest(wins_b, wins_a + wins_b).pvalue, rel=1e-9)
    if result.winner:
        assert result.low > 0 or result.high < 0
    swapped = measure_interleaving(wins_b, wins_a, ties)
    assert swapped.effect == pytest.approx(-result.effect, abs=1e-12)
    assert (swapped.low, swapped.high) == pytest.approx((-result.high, -result.low), abs=1e-9)


def test_five_sessions_are_too_few_for_a_winner():
    assert measure_interleaving(0, 5).is_reliable is False
    assert measure_interleaving(0, 6).winner is Side.B


def test_ab_published_examples():
    # Newcombe 1998, table II, method 10: (a) 56/70 − 48/80, (b) 9/10 − 3/10, (d) 5/56 − 0/29, (g) 10/10 − 0/20.
    for (b, n_b, a, n_a), (low, high) in {
        (56, 70, 48, 80): (0.0524, 0.3339),
        (9, 10, 3, 10): (0.1705, 0.8090),
        (5, 56, 0, 29): (-0.0381, 0.1926),
        (10, 10, 0, 20): (0.6791, 1.0),
    }.items():
        result = measure_ab(n_a, a, n_b, b)
        assert (result.low, result.high) == pytest.approx((low, high), abs=5e-5)


def test_ab_worked_example():
    # 540 of 10,000 against 480 of 10,000: pooled .051, error √(.051 · .949 · 2 / 10,000) = .0031112, z = .006 / .0031112 = 1.9285.
    result = measure_ab(10_000, 480, 10_000, 540)
    assert result.effect == pytest.approx(0.006)
    assert result.p == pytest.approx(math.erfc(0.006 / math.sqrt(0.051 * 0.949 / 5_000) / math.sqrt(2)))
    assert result.p == pytest.approx(0.05379, abs=1e-5)
    assert result.winner is None
    assert measure_ab(10_000, 480, 10_000, 560).winner is Side.B
    assert measure_ab(10_000, 560, 10_000, 480).winner is Side.A


@given(st.integers(1, 400), st.integers(1, 400), st.data())
def test_ab_is_the_chi_squared_test_of_scipy(n_a, n_b, data):
    a, b = data.draw(st.integers(0, n_a)), data.draw(st.integers(0, n_b))
    result = measure_ab(n_a, a, n_b, b)
    assert result.effect == pytest.approx(b / n_b - a / n_a)
    assert -1 <= result.low <= result.effect + 1e-12 and result.effect - 1e-12 <= result.high <= 1
    if 0 < a + b < n_a + n_b:
        oracle = chi2_contingency([[a, n_a - a], [b, n_b - b]], correction=False)
        assert result.p == pytest.approx(oracle.pvalue, rel=1e-7, abs=1e-12)
        assert result.is_reliable == bool(oracle.expected_freq.min() >= 5 - 1e-9)
    else:
        assert (result.p, result.winner) == (1.0, None)


@given(st.integers(1, 500), st.data())
def test_wilson_interval_is_that_of_scipy(n, data):
    successes = data.draw(st.integers(0, n))
    oracle = binomtest(successes, n).proportion_ci(0.95, method="wilson")
    assert wilson_interval(successes, n) == pytest.approx((oracle.low, oracle.high), abs=1e-12)


def test_no_sessions_on_one_side_say_nothing():
    assert measure_ab(0, 0, 10, 5).effect is None


@pytest.mark.parametrize("counts", [(10, 11, 10, 5), (10, -1, 10, 5)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(StatisticsError, match="cannot be"):
        measure_ab(*counts)
