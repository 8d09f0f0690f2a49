import math

import pytest

from tests.scoring.one_ranking import scores_of, value_of

GRADES = [3, 2, 3, 0, 1, 2]
TEN = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]


def test_dcg_worked_example():
    assert value_of("DCG(gain='linear')@6", GRADES) == pytest.approx(6.861127, abs=5e-7)
    assert value_of("DCG@6", GRADES) == pytest.approx(13.848264, abs=5e-7)


def test_dcg_classic_discount_at_every_rank():
    values = [value_of(f"DCG(gain='linear',discount='classic')@{k}", TEN) for k in range(1, 11)]
    assert [round(value, 2) for value in values] == [3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61]
    assert value_of("DCG(gain='linear',discount='classic')@4", [2, 1, 2, 0]) == pytest.approx(4.261860, abs=5e-7)


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
    assert value_of(f"DCG(discount='ln',unrated='{unrated}')", grades, "0:1") == pytest.approx(expected, abs=5e-7)


def test_cg_sums_gains():
    assert value_of("CG(gain='linear')@4", GRADES) == 8
    assert value_of("CG@4", GRADES) == 7 + 3 + 7


def test_cg_and_dcg_score_is_per_cent_of_k_documents_of_the_top_grade():
    assert scores_of("CG(gain='linear')@4", [3, None]).score[0] == pytest.approx(25)
    best = 7 * (1 + 1 / math.log2(3))
    assert scores_of("DCG@2", [1]).score[0] == pytest.approx(100 / best)
    assert scores_of("DCG@2", [3, 3, 0]).score[0] == 100


def test_dcg_without_cutoff_looks_at_what_is_shown():
    assert value_of("DCG", GRADES, shown=2) == value_of("DCG@2", GRADES)
    assert scores_of("CG(gain='linear')", [3, 3], shown=4).score[0] == 50


def test_cg_grade_below_zero_gains_nothing():
    assert value_of("CG(gain='linear')@3", [-1, 2, 1]) == 3
    assert value_of("DCG@3", [-2, -1, -1]) == 0


def test_dcg_needs_no_relevant_document():
    assert value_of("DCG@3", [0, 0]) == 0
    assert math.isnan(value_of("DCG@3", [None]))
