import math

import pytest

from tests.scoring.ranking_scores import compute_value, score_ranking

GRADES = [3, 2, 3, 0, 1, 2]
TEN = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]


def test_dcg_example():
    assert compute_value("DCG(gain='linear')@6", GRADES) == pytest.approx(6.861127, abs=5e-7)
    assert compute_value("DCG@6", GRADES) == pytest.approx(13.848264, abs=5e-7)


def test_dcg_classic_discount_at_every_rank():
    values = [compute_value(f"DCG(gain='linear',discount='classic')@{k}", TEN) for k in range(1, 11)]
    assert [round(value, 2) for value in values] == [3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61]
    assert compute_value("DCG(gain='linear',discount='classic')@4", [2, 1, 2, 0]) == pytest.approx(4.261860, abs=5e-7)


@pytest.mark.parametrize(
    ("unrated", "grades", "expected"),
    [
        ("zero", [0.9, 0.1], 1.314800),
        ("zero", [0.9, None, 0.8], 1.784061),
        ("skip", [0.9, 0.1], 1.314800),
        ("skip", [0.9, None, 0.8], 1.924048),
    ],
)
def test_dcg_natural_logarithm_with_gaps(unrated, grades, expected):
    assert compute_value(f"DCG(discount='ln',unrated='{unrated}')", grades, "0:1") == pytest.approx(expected, abs=5e-7)


def test_cg_sums_gains():
    assert compute_value("CG(gain='linear')@4", GRADES) == 8
    assert compute_value("CG@4", GRADES) == 7 + 3 + 7


def test_cg_and_dcg_score_is_per_cent_of_k_documents_of_the_top_grade():
    assert score_ranking("CG(gain='linear')@4", [3, None]).score[0] == pytest.approx(25)
    best = 7 * (1 + 1 / math.log2(3))
    assert score_ranking("DCG@2", [1]).score[0] == pytest.approx(100 / best)
    assert score_ranking("DCG@2", [3, 3, 0]).score[0] == 100


def test_dcg_without_cutoff_looks_at_what_is_shown():
    assert compute_value("DCG", GRADES, depth=2) == compute_value("DCG@2", GRADES)
    assert score_ranking("CG(gain='linear')", [3, 3], depth=4).score[0] == 50


def test_cg_grade_below_zero_gains_nothing():
    assert compute_value("CG(gain='linear')@3", [-1, 2, 1]) == 3
    assert compute_value("DCG@3", [-2, -1, -1]) == 0


def test_dcg_needs_no_relevant_document():
    assert compute_value("DCG@3", [0, 0]) == 0
    assert math.isnan(compute_value("DCG@3", [None]))
