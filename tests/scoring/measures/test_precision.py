import math

import pytest

from tests.scoring.one_ranking import value_of

GRADES = [1, None, 1, None, 1]


@pytest.mark.parametrize(("k", "expected"), [(3, 2 / 3), (4, 2 / 4), (5, 3 / 5)])
def test_p_worked_example(k, expected):
    assert value_of(f"P@{k}", GRADES) == pytest.approx(expected)


def test_p_denominator():
    assert value_of("P@10", [1, 1, 0]) == pytest.approx(0.2)
    assert value_of("P(denominator='returned')@10", [1, 1, 0]) == pytest.approx(2 / 3)
    assert value_of("P(denominator='returned')@2", [1, 0, 0]) == pytest.approx(1 / 2)
    assert value_of("P(denominator='returned',unrated='skip')@10", [1, 1, None]) == 1


def test_p_of_nothing_returned_is_zero():
    assert value_of("P@5", [], extra=[1]) == 0
    assert value_of("P(denominator='returned')@5", [], extra=[0]) == 0
    assert value_of("P(denominator='returned',unrated='skip')@5", [None], extra=[1]) == 0


def test_p_rel_from_the_scale():
    assert value_of("P@2", [5, 6], "1:10") == 0.5
    assert value_of("P(rel=5)@2", [5, 6], "1:10") == 1
    assert value_of("P(rel=0)@4", [0, 0, None, -1]) == 0.5


def test_p_skip_closes_the_gap_before_counting():
    assert value_of("P(unrated='skip')@2", [None, 1, None, 1]) == 1
    assert value_of("P@2", [None, 1, None, 1]) == 0.5


def test_r_counts_known_relevant():
    assert value_of("R@2", [1, 1, 1], extra=[2, 0]) == pytest.approx(2 / 4)
    assert value_of("R@2", [0, 0], extra=[2]) == 0
    assert math.isnan(value_of("R@2", [0, 0]))


def test_success():
    assert value_of("Success@2", [0, 1, 1]) == 1
    assert value_of("Success@1", [0, 1, 1]) == 0
    assert value_of("Success@1", [], extra=[3]) == 0
    assert math.isnan(value_of("Success@1", [0]))
