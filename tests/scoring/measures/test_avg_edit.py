import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevancy.scoring.measures.avg_edit import edit_distance
from tests.scoring.one_ranking import scores_of, value_of


def test_avg_edit_worked_example():
    scores = scores_of("AvgEdit@10", [10, 8, 9, None, 5, 1, 4, None, None, None], "1:10")
    assert scores.score[0] == 57
    assert scores.value[0] == 0.57


@pytest.mark.parametrize(
    ("grades", "extra", "scale", "expected"),
    [
        ([10, 9, 8, 7], [], "1:10", 85),
        ([7, 8], [], "1:10", 73),  # 75 less two replacements
        ([1, 10], [], "1:10", 53),  # 55, and true Levenshtein: no free insertion at the front
        ([10, 10], [], "1:10", 100),
        ([10, 9], [10], "1:10", 94),  # 95; the best list is 10 10
        ([3, 0], [], "0:3", 50),  # a grade 0 counts in the mean and is no edit
        ([1], [3], "0:3", 32),  # ⌊33.3⌋ − 1
        ([1], [], "1:100", 1),
    ],
)
def test_avg_edit_values(grades, extra, scale, expected):
    assert scores_of("AvgEdit@10", grades, scale, extra).score[0] == expected


def test_avg_edit_floor_is_not_fooled_by_floating_point():
    # 100 · (0.29 / 1) is 28.999999999999996 in floating point.
    assert scores_of("AvgEdit@1", [0.29], "0:1").score[0] == 29


def test_avg_edit_is_never_below_zero():
    assert value_of("AvgEdit@5", [1, None, None, None, None], "0:100", [100, 90, 80, 70]) == 0


def test_avg_edit_without_cutoff_looks_at_what_is_shown():
    grades = [10, 2, 9, None, 5]
    assert value_of("AvgEdit", grades, "1:10", shown=2) == value_of("AvgEdit@2", grades, "1:10")


def test_avg_edit_scoreable():
    assert math.isnan(value_of("AvgEdit@2", [None, None, 3], "1:10"))
    assert math.isnan(value_of("AvgEdit@2", [], "0:3", [0]))
    assert value_of("AvgEdit@2", [], "1:10", [3]) == 0
    assert value_of("AvgEdit@2", [0, 0], "0:3") == 0


def test_avg_edit_bounds_formula():
    scores = scores_of("AvgEdit@4", [10, None, None, 4], "1:10")
    # (14 + 2·1) / 40 = 40 %, less n = 4; (14 + 2·10) / 40 = 85 %.
    assert (scores.low[0], scores.high[0]) == (36, 85)


def plain_levenshtein(first: list[int], second: list[int]) -> int:
    row = list(range(len(second) + 1))
    for at, left in enumerate(first, start=1):
        below = [at]
        for to, right in enumerate(second, start=1):
            below.append(min(row[to] + 1, below[-1] + 1, row[to - 1] + (left != right)))
        row = below
    return row[-1]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=7), st.integers(0, 7))
def test_edit_distance_is_levenshtein(pairs, length):
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    length = min(length, len(pairs))
    found = edit_distance(np.array([first], float), np.array([second], float), np.array([float(length)]))
    assert found[0] == plain_levenshtein(first[:length], second[:length])
