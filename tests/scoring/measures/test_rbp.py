import math

import pytest

from tests.scoring.one_ranking import value_of


def test_rbp_worked_example():
    assert value_of("RBP(p=0.5)@10", [1, 0, 1]) == pytest.approx(0.625)


def test_rbp_default_patience_cutoff_and_threshold():
    assert value_of("RBP@1", [1, 1]) == pytest.approx(0.2)
    assert value_of("RBP(rel=2)", [1, 2]) == pytest.approx(0.2 * 0.8)


def test_rbp_unrated_skipped():
    assert value_of("RBP(unrated='skip')@1", [None, 1]) == pytest.approx(0.2)


def test_rbp_needs_no_relevant_document():
    assert value_of("RBP@3", [0, 0]) == 0
    assert math.isnan(value_of("RBP@3", [None]))
