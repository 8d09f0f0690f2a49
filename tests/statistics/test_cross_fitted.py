import numpy as np
import pytest

from relevancy.statistics import (
    Differences,
    compare_cross_fitted,
    compare_paired,
    correct_holm,
    find_cross_fitted_interval,
    find_interval,
)

from .test_differences import PUBLISHED


def test_worked_example():
    """The example of statistics.md: a quarter longer on each side of the mean than the interval from −0.88 to 9.16."""
    interval = find_cross_fitted_interval([Differences.build(PUBLISHED)])
    assert (interval.low, interval.high) == pytest.approx((-1.953505, 10.5995109), abs=5e-7)
    assert not interval.is_reliable


def test_several_draws_have_their_mean_and_the_length_that_their_standard_errors_lead_to():
    draws = [Differences.build(values) for values in (range(1, 26), range(-3, 22), [0] * 20 + [30] * 5)]
    means = Differences.build(np.mean([draw.values for draw in draws], axis=0))
    plain = find_interval(means)
    factor = 1.25 * np.mean([draw.standard_error for draw in draws]) / means.standard_error
    assert factor > 1.3
    interval = find_cross_fitted_interval(draws)
    low, high = (means.mean + factor * (end - means.mean) for end in (plain.low, plain.high))
    assert (interval.low, interval.high) == pytest.approx((low, high))
    assert interval.is_reliable


@pytest.mark.parametrize("seed", range(20))
def test_p_is_below_5_percent_exactly_if_0_is_outside_the_interval(seed):
    generator = np.random.default_rng(seed)
    base = generator.normal(generator.uniform(0, 12), 20, 30)
    draws = [Differences.build(base + generator.normal(0, 5, 30)) for _ in range(3)]
    (tested,) = compare_cross_fitted([draws])
    assert tested.interval == find_cross_fitted_interval(draws)
    assert tested.interval.low < tested.gain < tested.interval.high
    assert tested.p == tested.p_holm
    assert (tested.p < 0.05) == (tested.interval.low > 0 or tested.interval.high < 0)
    assert tested.p >= compare_paired(Differences.build(np.mean([draw.values for draw in draws], axis=0))).p


def test_gains_are_corrected_together_but_for_those_with_too_few_queries():
    gains = [[Differences.build(range(1, count))] for count in (30, 5, 12)]
    first, few, last = compare_cross_fitted(gains)
    assert (few.gain, few.interval, few.p, few.p_holm) == (2.5, None, None, None)
    assert [first.p_holm, last.p_holm] == correct_holm([first.p, last.p])
    assert compare_cross_fitted([]) == []


def test_ends_stay_within_what_scores_can_differ():
    interval = find_cross_fitted_interval([Differences.build([100] * 3 + [-100] * 3)])
    assert (interval.low, interval.high) == (-100, 100)


@pytest.mark.parametrize("values", [[], [3]])
def test_too_few_queries_have_no_interval(values):
    assert find_cross_fitted_interval([Differences.build(values)]) is None


def test_equal_differences_have_an_interval_around_them():
    assert find_cross_fitted_interval([Differences.build([0.0] * 30)]).high == 0
