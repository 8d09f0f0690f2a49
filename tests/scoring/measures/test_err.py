import math

import pytest

from tests.scoring.ranking_scores import compute_value


def test_err_example():
    assert compute_value("ERR@4", [3, None, 0, 1]) == pytest.approx(0.878906, abs=5e-7)


def test_err_takes_the_top_grade_from_the_scale():
    assert compute_value("ERR@1", [3], "0:3") == 7 / 8
    assert compute_value("ERR@1", [3], "0:5") == 7 / 32


def test_err_unrated_skipped():
    assert compute_value("ERR(unrated='skip')@2", [None, 3]) == 7 / 8


def test_err_needs_no_relevant_document():
    assert compute_value("ERR@3", [0, 0]) == 0
    assert compute_value("ERR@3", [], unretrieved=[0]) == 0
    assert math.isnan(compute_value("ERR@3", [None]))
