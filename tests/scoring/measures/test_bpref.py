import math

import pytest

from tests.scoring.one_ranking import value_of


def test_bpref_worked_example():
    assert value_of("Bpref", [1, 0, 1, None, 1, 0], extra=[0]) == pytest.approx(0.777778, abs=5e-7)


def test_bpref_leaves_unrated_and_negative_grades_out_of_account():
    with_gaps = value_of("Bpref", [None, 1, -1, 0, None, 1], extra=[-1, 0, 1])
    assert with_gaps == value_of("Bpref", [1, 0, 1], extra=[0, 1])


def test_bpref_without_known_non_relevant_documents():
    assert value_of("Bpref", [None, 1, 1], extra=[1]) == pytest.approx(2 / 3)


def test_bpref_needs_a_relevant_document():
    assert math.isnan(value_of("Bpref", [0, 0]))
    assert value_of("Bpref", [], extra=[1, 0]) == 0
