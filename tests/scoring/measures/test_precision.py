import math

import pytest

from tests.scoring.ranking_scores import compute_value

GRADES = [1, None, 1, None, 1]


@pytest.mark.parametrize(("k", "expected"), [(3, 2 / 3), (4, 2 / 4), (5, 3 / 5)])
def test_p_example(k, expected):
    assert compute_value(f"P@{k}", GRADES) == pytest.approx(expected)


def test_p_denominator():
    assert compute_value("P@10", [1, 1, 0]) == pytest.approx(0.2)
    assert compute_value("P(denominator='returned')@10", [1, 1, 0]) == pytest.approx(2 / 3)
    assert compute_value("P(denominator='returned')@2", [1, 0, 0]) == pytest.approx(1 / 2)
    assert compute_value("P(denominator='returned',unrated='skip')@10", [1, 1, None]) == 1


def test_p_of_nothing_returned_is_zero():
    assert compute_value("P@5", [], unretrieved=[1]) == 0
    assert compute_value("P(denominator='returned')@5", [], unretrieved=[0]) == 0
    assert compute_value("P(denominator='returned',unrated='skip')@5", [None], unretrieved=[1]) == 0


def test_p_rel_from_the_scale():
    assert compute_value("P@2", [5, 6], "1:10") == 0.5
    assert compute_value("P(rel=5)@2", [5, 6], "1:10") == 1
    assert compute_value("P(rel=0)@4", [0, 0, None, -1]) == 0.5


def test_p_skip_closes_the_gap_before_counting():
    assert compute_value("P(unrated='skip')@2", [None, 1, None, 1]) == 1
    assert compute_value("P@2", [None, 1, None, 1]) == 0.5


def test_r_counts_known_relevant():
    assert compute_value("R@2", [1, 1, 1], unretrieved=[2, 0]) == pytest.approx(2 / 4)
    assert compute_value("R@2", [0, 0], unretrieved=[2]) == 0
    assert math.isnan(compute_value("R@2", [0, 0]))


def test_success():
    assert compute_value("Success@2", [0, 1, 1]) == 1
    assert compute_value("Success@1", [0, 1, 1]) == 0
    assert compute_value("Success@1", [], unretrieved=[3]) == 0
    assert math.isnan(compute_value("Success@1", [0]))
