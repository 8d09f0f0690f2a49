"""The sign test against its worked example, an independent library, and what must hold for any counts."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from relevancy.statistics import StatisticsError, sign_test

COUNTS = st.integers(0, 200)


def test_worked_example():
    result = sign_test(18, 6, 4)
    assert result.p == pytest.approx(0.022655844688415527)  # 2 · 190,051 / 2²⁴
    assert result.share == 0.75
    assert (result.low, result.high) == pytest.approx((0.5328872, 0.9022696), abs=1e-6)
    assert (result.decided, result.ties) == (24, 4)


@given(COUNTS, COUNTS)
def test_p_and_interval_are_those_of_scipy(wins, losses):
    result = sign_test(wins, losses)
    if wins + losses == 0:
        assert (result.p, result.share, result.low, result.high) == (None, None, None, None)
        return
    oracle = binomtest(wins, wins + losses)
    interval = oracle.proportion_ci(0.95, method="exact")
    assert result.p == pytest.approx(oracle.pvalue, rel=1e-9)
    tail = sum(math.comb(wins + losses, i) for i in range(min(wins, losses) + 1))
    assert result.p == pytest.approx(min(1.0, 2 * tail / 2 ** (wins + losses)), rel=1e-9)
    assert (result.low, result.high) == pytest.approx((interval.low, interval.high), rel=1e-7, abs=1e-12)


@given(COUNTS, COUNTS, COUNTS)
def test_ties_and_the_direction_do_not_change_p(wins, losses, ties):
    assert sign_test(wins, losses, ties).p == sign_test(losses, wins).p


def test_too_few_units_are_never_significant():
    five, six = sign_test(5, 0), sign_test(6, 0)
    assert (five.p, five.missing, five.is_significant) == (0.0625, 1, False)
    assert (six.p, six.missing, six.is_significant) == (0.03125, 0, True)


def test_many_units_do_not_overflow():
    result = sign_test(60_000, 40_000)
    assert result.p == pytest.approx(0.0, abs=1e-300)
    assert 0.59 < result.low < 0.6 < result.high < 0.61


def test_negative_counts_are_refused():
    with pytest.raises(StatisticsError, match="negative"):
        sign_test(-1, 2)
