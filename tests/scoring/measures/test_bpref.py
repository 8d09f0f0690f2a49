import math

import pytest

from tests.scoring.ranking_scores import compute_value


def test_bpref_example():
    assert compute_value("Bpref", [1, 0, 1, None, 1, 0], unretrieved=[0]) == pytest.approx(0.777778, abs=5e-7)


def test_bpref_leaves_unrated_and_negative_grades_out_of_account():
    with_gaps = compute_value("Bpref", [None, 1, -1, 0, None, 1], unretrieved=[-1, 0, 1])
    assert with_gaps == compute_value("Bpref", [1, 0, 1], unretrieved=[0, 1])


def test_bpref_without_known_non_relevant_documents():
    assert compute_value("Bpref", [None, 1, 1], unretrieved=[1]) == pytest.approx(2 / 3)


def test_bpref_needs_a_relevant_document():
    assert math.isnan(compute_value("Bpref", [0, 0]))
    assert compute_value("Bpref", [], unretrieved=[1, 0]) == 0
