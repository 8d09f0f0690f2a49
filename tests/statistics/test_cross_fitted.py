import pytest

from relevancy.statistics import Differences, find_cross_fitted_interval, find_interval

from .test_differences import PUBLISHED


def test_worked_example():
    """The example of statistics.md: a quarter longer on each side of the mean than the interval from −0.88 to 9.16."""
    interval = find_cross_fitted_interval([Differences.build(PUBLISHED)])
    assert (interval.low, interval.high) == pytest.approx((-1.953505, 10.5995109), abs=5e-7)
    assert not interval.is_reliable


def test_several_draws_have_their_mean_and_their_mean_lengths():
    draws = [Differences.build(values) for values in (range(1, 26), range(-3, 22), [0] * 20 + [30] * 5)]
    plain = [find_interval(draw) for draw in draws]
    middle = sum(draw.mean for draw in draws) / 3
    below = sum(draw.mean - interval.low for draw, interval in zip(draws, plain, strict=True)) / 3
    above = sum(interval.high - draw.mean for draw, interval in zip(draws, plain, strict=True)) / 3
    interval = find_cross_fitted_interval(draws)
    assert (interval.low, interval.high) == pytest.approx((middle - 1.25 * below, middle + 1.25 * above))
    assert interval.is_reliable


def test_ends_stay_within_what_scores_can_differ():
    interval = find_cross_fitted_interval([Differences.build([100] * 3 + [-100] * 3)])
    assert (interval.low, interval.high) == (-100, 100)


@pytest.mark.parametrize("values", [[], [3]])
def test_too_few_queries_have_no_interval(values):
    assert find_cross_fitted_interval([Differences.build(values)]) is None


def test_equal_differences_have_an_interval_around_them():
    assert find_cross_fitted_interval([Differences.build([0.0] * 30)]).high == 0
