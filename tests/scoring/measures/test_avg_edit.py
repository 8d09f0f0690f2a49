import math

import pytest

from tests.scoring.ranking_scores import compute_value, score_ranking


def test_avg_edit_example():
    scores = score_ranking("AvgEdit@10", [10, 8, 9, None, 5, 1, 4, None, None, None], "1:10")
    assert scores.score[0] == 57
    assert scores.value[0] == 0.57


@pytest.mark.parametrize(
    ("grades", "unretrieved", "scale", "expected"),
    [
        ([10, 9, 8, 7], [], "1:10", 85),
        ([7, 8], [], "1:10", 73),  # 75 minus two replacements
        ([1, 10], [], "1:10", 53),  # 55, and true Levenshtein: no free insertion at the front
        ([10, 10], [], "1:10", 100),
        ([10, 9], [10], "1:10", 94),  # 95; the ideal list is 10 10
        ([3, 0], [], "0:3", 50),  # a grade 0 is part of the mean and needs no edit
        ([1], [3], "0:3", 32),  # ⌊33.3⌋ − 1
        ([1], [], "1:100", 1),
    ],
)
def test_avg_edit_values(grades, unretrieved, scale, expected):
    assert score_ranking("AvgEdit@10", grades, scale, unretrieved).score[0] == expected


def test_avg_edit_floor_tolerates_floating_point_errors():
    # 100 · (0.29 / 1) is 28.999999999999996 in floating point.
    assert score_ranking("AvgEdit@1", [0.29], "0:1").score[0] == 29


def test_avg_edit_is_never_below_zero():
    assert compute_value("AvgEdit@5", [1, None, None, None, None], "0:100", [100, 90, 80, 70]) == 0


def test_avg_edit_without_cutoff_looks_at_what_is_shown():
    grades = [10, 2, 9, None, 5]
    assert compute_value("AvgEdit", grades, "1:10", depth=2) == compute_value("AvgEdit@2", grades, "1:10")


def test_avg_edit_needs_a_rated_result():
    assert math.isnan(compute_value("AvgEdit@2", [None, None, 3], "1:10"))
    assert math.isnan(compute_value("AvgEdit@2", [], "0:3", [0]))
    assert compute_value("AvgEdit@2", [], "1:10", [3]) == 0
    assert compute_value("AvgEdit@2", [0, 0], "0:3") == 0


def test_avg_edit_bounds_formula():
    scores = score_ranking("AvgEdit@4", [10, None, None, 4], "1:10")
    # (14 + 2·1) / 40 = 40 %, minus n = 4; (14 + 2·10) / 40 = 85 %.
    assert (scores.low[0], scores.high[0]) == (36, 85)
