import math

import pytest

from tests.scoring.one_ranking import value_of


def test_rr_worked_example():
    assert value_of("RR@10", [0, 0, 1]) == pytest.approx(1 / 3)


def test_rr_cutoff_and_threshold():
    assert value_of("RR@2", [0, 0, 1]) == 0
    assert value_of("RR(rel=3)", [1, 2, 0, 3]) == 1 / 4
    assert value_of("RR", [], extra=[1]) == 0


def test_rr_unrated():
    assert value_of("RR@1", [None, 1]) == 0
    assert value_of("RR(unrated='skip')@1", [None, 1]) == 1


def test_rr_needs_a_relevant_document():
    assert math.isnan(value_of("RR@10", [0, None]))
