import math

import pytest

from tests.scoring.one_ranking import value_of


def test_err_worked_example():
    assert value_of("ERR@4", [3, None, 0, 1]) == pytest.approx(0.878906, abs=5e-7)


def test_err_takes_the_top_grade_from_the_scale():
    assert value_of("ERR@1", [3], "0:3") == 7 / 8
    assert value_of("ERR@1", [3], "0:5") == 7 / 32


def test_err_unrated_skipped():
    assert value_of("ERR(unrated='skip')@2", [None, 3]) == 7 / 8


def test_err_needs_no_relevant_document():
    assert value_of("ERR@3", [0, 0]) == 0
    assert value_of("ERR@3", [], extra=[0]) == 0
    assert math.isnan(value_of("ERR@3", [None]))
