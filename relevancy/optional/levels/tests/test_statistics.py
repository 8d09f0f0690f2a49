import itertools
import math

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, rankdata

from relevancy.optional.levels.additions import INDEPENDENCE_NOTE
from relevancy.optional.levels.statistics import find_level_changes, pettitt_test, rank_values
from relevancy.statistics import StatisticsError


def brute_force(values):
    """K from the signs of all pairs, and the share of all orders that reach it."""

    def largest(order):
        n = len(order)
        sums = [abs(sum(np.sign(order[i] - order[j]) for i in range(t) for j in range(t, n))) for t in range(1, n)]
        return max(sums), sums.index(max(sums)) + 1

    size, position = largest(values)
    orders = list(itertools.permutations(values))
    return position, sum(largest(order)[0] >= size for order in orders) / len(orders)


@pytest.mark.parametrize(
    "values",
    [(1, 2, 3, 11, 12, 13), (5, 1, 4, 2, 3), (1, 1, 2, 2, 2, 1), (3, 3, 3, 3), (60.0, 60.05, 55, 70, 71, 70.3)],
)
def test_pettitt_test_against_brute_force(values):
    position, p = brute_force(values)
    result = pettitt_test(values)
    assert result.position == position
    assert result.p == pytest.approx(p)


def test_pettitt_test_worked_example():
    # The four lower scores come first: U is largest after them, 16. Of the 8! / (4! 4!) = 70 divisions, two are so extreme.
    result = pettitt_test([55.0, 55.4, 54.8, 55.1, 61.0, 61.3, 60.9, 61.2])
    assert (result.position, result.p) == (4, pytest.approx(2 / 70))


def test_u_is_that_of_mann_whitney():
    values = np.random.default_rng(1).normal(size=12).round(1)
    result = pettitt_test(values)
    largest = max(abs(2 * mannwhitneyu(values[:t], values[t:]).statistic - t * (12 - t)) for t in range(1, 12))
    at = result.position
    assert abs(2 * mannwhitneyu(values[:at], values[at:]).statistic - at * (12 - at)) == largest


def test_random_orders_agree_with_all_orders():
    # 9 values have 362,880 orders, which are counted here.
    values = [3, 1, 2, 6, 4, 5, 9, 7, 8]
    orders = np.array(list(itertools.permutations(range(1, 10))))
    sizes = np.abs(2 * orders.cumsum(axis=1)[:, :-1] - np.arange(1, 9) * 10).max(axis=1)
    result = pettitt_test(values)
    largest = abs(2 * np.cumsum(values)[:-1] - np.arange(1, 9) * 10).max()
    exact = (sizes >= largest).mean()
    assert result.p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 10_000))
    assert result == pettitt_test(values)


def test_the_approximation_for_long_series_is_on_the_safe_side():
    orders = np.random.default_rng(3).permuted(np.tile(np.arange(1.0, 102), (4000, 1)), axis=1)
    p_values = np.array([pettitt_test(order).p for order in orders])
    for alpha in (0.05, 0.01):
        assert alpha / 2 <= (p_values < alpha).mean() <= alpha


@pytest.mark.parametrize(("values", "p"), [([], None), ([50.0], None), ([50.0, 60.0], 1.0), ([50.0] * 30, 1.0)])
def test_too_few_or_equal_values(values, p):
    assert pettitt_test(values).p == p
    assert find_level_changes([values]) == [[]]


def test_values_must_be_numbers():
    with pytest.raises(StatisticsError, match="finite"):
        pettitt_test([1.0, math.nan])


def test_two_changes_of_one_series():
    values = [50.0, 50.4, 49.8, 50.1] * 5 + [58.0, 58.3, 57.9, 58.1] * 5 + [53.0, 53.2, 52.9, 53.1] * 5
    (result,) = find_level_changes([values])
    assert [change.position for change in result] == [20, 40]
    assert [(change.values_before, change.values_after) for change in result] == [(20, 20), (20, 20)]
    first, second = result
    assert (first.before, first.after, second.after) == pytest.approx((50.075, 58.075, 53.05))
    assert first.difference == pytest.approx(8.0)
    assert max(change.p for change in result) < 0.01


def test_small_changes_are_left_out():
    # Clear by the test, and half a point.
    values = [50.0, 50.1, 49.9, 50.05] * 5 + [50.6, 50.5, 50.7, 50.55] * 5
    assert pettitt_test(values).p < 0.001
    assert find_level_changes([values]) == [[]]
    ((change,),) = find_level_changes([values], margin=0.1)
    assert change.position == 20


def test_every_series_counts_in_the_correction():
    # Eight values are divided with p = 2 / 70; a second test makes it .057.
    clear, flat = [55.0] * 4 + [61.0] * 4, [50.0, 51.0] * 4
    clear = [value + number / 100 for number, value in enumerate(clear)]
    assert [change.position for change in find_level_changes([clear])[0]] == [4]
    assert find_level_changes([clear, flat]) == [[], []]
    assert find_level_changes([clear, [50.0] * 7])[0] != []  # too short to be tested


def test_false_alarms():
    generator = np.random.default_rng(20261122)
    alarms = sum(any(find_level_changes(generator.normal(60, 5, size=(3, 20)), permutations=500)) for _ in range(300))
    assert alarms / 300 <= 0.05 + 2.6 * math.sqrt(0.05 * 0.95 / 300)


@pytest.mark.parametrize(("scorers", "runs"), [(1, 20), (3, 40)])
def test_false_alarms_with_autocorrelation_are_as_many_as_the_history_page_says(scorers, runs):
    generator = np.random.default_rng(20261123)

    def similar_scores():
        noise = generator.normal(size=(scorers, runs))
        for run in range(1, runs):
            noise[:, run] = 0.5 * noise[:, run - 1] + math.sqrt(0.75) * noise[:, run]
        return 60 + 5 * noise

    alarms = sum(any(find_level_changes(similar_scores(), permutations=400)) for _ in range(200))
    assert "19 to 43 of 100" in INDEPENDENCE_NOTE
    error = 2.6 * math.sqrt(0.25 / 200)
    assert 0.19 - error <= alarms / 200 <= 0.43 + error


def test_ranks_are_those_of_scipy():
    for values in ([3.0], [5.0, 1.0, 4.0], [2.0, 2.0, 1.0, 2.0], [1.0, 1.0], [0.5, 3.0, 0.5, -1.0, 3.0]):
        assert rank_values(np.array(values)).tolist() == rankdata(values).tolist()
