import math

import pytest

from tests.scoring.ranking_scores import compute_value


def test_rbp_example():
    assert compute_value("RBP(p=0.5)@10", [1, 0, 1]) == pytest.approx(0.625)


def test_rbp_default_patience_cutoff_and_threshold():
    assert compute_value("RBP@1", [1, 1]) == pytest.approx(0.2)
    assert compute_value("RBP(rel=2)", [1, 2]) == pytest.approx(0.2 * 0.8)


def test_rbp_unrated_skipped():
    assert compute_value("RBP(unrated='skip')@1", [None, 1]) == pytest.approx(0.2)


def test_rbp_needs_no_relevant_document():
    assert compute_value("RBP@3", [0, 0]) == 0
    assert math.isnan(compute_value("RBP@3", [None]))
