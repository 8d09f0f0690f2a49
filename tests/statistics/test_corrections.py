import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevancy.statistics import correct_holm, group_runs, list_too_few


def test_correct_holm_worked_example():
    assert correct_holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


@given(st.lists(st.floats(0, 1), max_size=8))
def test_correct_holm_never_lowers_a_p_and_keeps_the_order(p_values):
    corrected = correct_holm(p_values)
    assert all(raw <= new <= 1 for raw, new in zip(p_values, corrected, strict=True))
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    assert [corrected[index] for index in order] == sorted(corrected)


def test_group_runs():
    p = np.array([[1, 0.95, 0.02], [0.95, 1, 0.07], [0.02, 0.07, 1]])
    assert group_runs(np.array([54.2, 55.3, 62.7]), p) == [[2, 1], [1, 0]]
    assert group_runs(np.array([1.0, 2.0]), np.array([[1, 0.01], [0.01, 1]])) == [[1], [0]]
    assert group_runs(np.array([1.0, 2.0]), np.ones((2, 2))) == [[1, 0]]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([0], [True]),
        ([5], [True]),
        ([6], [False]),
        ([6, 6], [True, True]),  # .031 each at best, which is .062 corrected
        ([7, 7], [False, False]),
        ([6, 100], [False, False]),  # the second one may be decided first
        ([6, 5, 1], [False, True, True]),  # what is not tested does not count
        ([14] * 300, [False] * 300),
        ([14] * 500, [True] * 500),
    ],
)
def test_list_too_few(counts, expected):
    assert list_too_few(counts) == expected


@pytest.mark.parametrize(("alpha", "few"), [(0.01, True), (0.05, False)])
def test_list_too_few_depends_on_alpha(alpha, few):
    assert list_too_few([7], alpha) == [few]
