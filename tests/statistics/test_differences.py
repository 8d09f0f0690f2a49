import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevancy.statistics import Differences, StatisticsError

PUBLISHED = [0, 0, 5, 12, -3, 0, 8, 0, 0, 20, -1, 0]
points = st.floats(-100, 100).map(lambda value: round(value, 3))


def test_worked_example():
    differences = Differences.build(PUBLISHED)
    assert differences.mean == pytest.approx(3.4166667, abs=5e-8)
    assert differences.deviation == pytest.approx(6.7616342, abs=5e-8)
    assert (differences.wins, differences.ties, differences.losses) == (4, 6, 2)
    assert differences.list_carriers() == [9, 3, 6]


def test_effect_is_mean_over_deviation():
    assert Differences.build([1, 2, 3]).effect == pytest.approx(2.0)
    assert Differences.build([2, 2]).effect is None
    assert Differences.build([2]).effect is None


def test_effect_follows_the_weights():
    """Of 8 and −2 with the weights 1 and 9, the mean is −1 and the variance (0.1 · 81 + 0.9 · 1) / (1 − 0.82) = 50.

    Without weights, the effect is positive.
    """
    assert Differences.build([8, -2], [1, 9]).effect == pytest.approx(-1 / 50**0.5)
    equal, scaled = Differences.build([1, 2, 6], [1, 1, 1]), Differences.build([1, 2, 6], [5, 5, 5])
    assert equal.effect == pytest.approx(3 / 7**0.5)
    assert scaled.effect == pytest.approx(equal.effect)
    assert Differences.build([8, -2], [1, 1e-300]).effect is None


def test_differences_below_a_twentieth_are_ties():
    differences = Differences.build([0.049, -0.049, 0.05, -0.05])
    assert (differences.wins, differences.ties, differences.losses) == (1, 2, 1)


def test_differences_that_are_a_twentieth_in_decimals_are_no_ties():
    """70.05 − 70 is a little less than 0.05 in binary fractions."""
    differences = Differences.build([70.05 - 70, 70 - 70.05])
    assert (differences.wins, differences.ties, differences.losses) == (1, 0, 1)


def test_weights_change_the_mean():
    assert Differences.build([10, 0], [3, 1]).mean == 7.5


@given(st.lists(points, min_size=2, max_size=30), st.floats(0.1, 10))
def test_equal_weights_change_nothing(values, weight):
    plain, weighted = Differences.build(values), Differences.build(values, [weight] * len(values))
    assert weighted.mean == pytest.approx(plain.mean, abs=1e-9)
    assert weighted.standard_error == pytest.approx(plain.standard_error, abs=1e-9)
    assert plain.standard_error == pytest.approx((plain.deviation or 0) / math.sqrt(len(values)), abs=1e-9)


def test_standard_error_with_weights_is_that_of_repeated_draws():
    generator = np.random.default_rng(7)
    values, weights = generator.normal(3, 10, 400), generator.uniform(0.5, 4, 400)
    drawn = generator.integers(400, size=(20_000, 400))
    means = (values[drawn] * weights[drawn]).sum(axis=1) / weights[drawn].sum(axis=1)
    assert Differences.build(values, weights).standard_error == pytest.approx(means.std(), rel=0.02)


@given(st.lists(points, min_size=1, max_size=12))
def test_carriers_are_the_fewest_that_reach_four_fifths(values):
    differences = Differences.build(values)
    carriers = differences.list_carriers()
    total = sum(values)
    if abs(differences.mean) <= 1e-9:
        assert carriers == []
        return
    carried = sum(values[position] for position in carriers) * math.copysign(1, total)
    largest = sorted((value * math.copysign(1, total) for value in values), reverse=True)
    assert carried >= 0.8 * abs(total) - 1e-6
    assert sum(largest[: len(carriers) - 1]) < 0.8 * abs(total) + 1e-6


@pytest.mark.parametrize(
    ("values", "weights"), [([1, math.nan], None), ([1, 2], [1]), ([1, 2], [1, 0]), ([1], [math.inf]), ([[1, 2]], None)]
)
def test_build_refuses(values, weights):
    with pytest.raises(StatisticsError):
        Differences.build(values, weights)


def test_no_queries():
    differences = Differences.build([])
    assert math.isnan(differences.mean)
    assert differences.list_carriers() == []
    assert differences.standard_error is None


@given(st.lists(st.tuples(points, st.sampled_from([0.5, 1.0, 3.0]), st.integers(0, 5)), min_size=1, max_size=30))
def test_merged_keeps_the_mean_and_units_of_one_exactly(rows):
    values, weights, links = zip(*rows, strict=True)
    differences = Differences.build(values, weights)
    _, units = np.unique(links, return_inverse=True)
    merged = differences.merged(units)
    assert len(merged) == len(set(links))
    assert merged.mean == pytest.approx(differences.mean, abs=1e-9)
    assert merged.weights.sum() == pytest.approx(sum(weights))
    alone = differences.merged(np.arange(len(rows)))
    assert alone.values.tolist() == list(values) and alone.weights.tolist() == list(weights)
    assert differences.merged(None) is differences
