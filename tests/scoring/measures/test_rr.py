import math

import pytest

from tests.scoring.ranking_scores import compute_value


def test_rr_example():
    assert compute_value("RR@10", [0, 0, 1]) == pytest.approx(1 / 3)


def test_rr_cutoff_and_threshold():
    assert compute_value("RR@2", [0, 0, 1]) == 0
    assert compute_value("RR(rel=3)", [1, 2, 0, 3]) == 1 / 4
    assert compute_value("RR", [], unretrieved=[1]) == 0


def test_rr_unrated():
    assert compute_value("RR@1", [None, 1]) == 0
    assert compute_value("RR(unrated='skip')@1", [None, 1]) == 1


def test_rr_needs_a_relevant_document():
    assert math.isnan(compute_value("RR@10", [0, None]))
