import math

import pytest

from tests.scoring.ranking_scores import compute_value


def test_ap_example():
    assert compute_value("AP", [1, None, 1, None, 1]) == pytest.approx(0.755556, abs=5e-7)


@pytest.mark.parametrize(
    ("grades", "expected"),
    [([1, 0, 1, 1, 1, 1, 0, 0, 0, 1], 0.775), ([0, 1, 0, 0, 1, 1, 1, 0, 1, 1], 0.521164)],
)
def test_ap_published_rankings(grades, expected):
    assert compute_value("AP", grades) == pytest.approx(expected, abs=5e-7)


def test_ap_divides_by_all_known_relevant_documents():
    assert compute_value("AP@2", [1, 1, 1], unretrieved=[1]) == pytest.approx(2 / 4)
    assert compute_value("AP", [], unretrieved=[1]) == 0


def test_ap_unrated_skipped():
    assert compute_value("AP(unrated='skip')", [None, 1, None, 1]) == 1


def test_ap_needs_a_relevant_document():
    assert math.isnan(compute_value("AP", [0, None]))
    assert math.isnan(compute_value("AP(rel=3)", [2, 1]))
