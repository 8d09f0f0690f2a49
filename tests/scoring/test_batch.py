import numpy as np
import pytest

from relevancy.scoring import Batch, GradeError, Scale
from tests.scoring.ranking_scores import batch_from_grades

SCALE = Scale.parse("0:3")


def test_build_matrix():
    batch = Batch.build([["a", "b", "c"], [], ["x"]], [{"a": 3, "c": 0, "z": 2}, {"a": 1}, {}], SCALE)
    assert batch.grades[0].tolist()[0::2] == [3, 0]
    assert np.isnan(batch.grades).tolist() == [[False, True, False], [True] * 3, [True] * 3]
    assert batch.returned.tolist() == [3, 0, 1]
    assert batch.known.counts.tolist() == [3, 1, 0]
    assert batch.known.grades.tolist() == [3, 0, 2, 1]
    assert len(batch) == 3


def test_build_repeat_counts_at_its_first_rank():
    batch = Batch.build([["a", "b", "a", "b", "c"], ["a", "b", "c", "d", "e"]], [{"a": 3}, {"a": 3}], SCALE)
    assert batch.repeats.tolist() == [[False, False, True, True, False], [False] * 5]
    assert np.isnan(batch.grades[0]).tolist() == [False, True, True, True, True]


@pytest.mark.parametrize("grade", [0.5, 2.5, 3.0, np.float64(1.5), np.int64(2), True])
def test_build_accepts_any_number_type(grade):
    assert Batch.build([["a", "b"]], [{"a": grade}], SCALE).grades[0, 0] == float(grade)


@pytest.mark.parametrize("grade", [-1, -0.5, 254, 255, 256, 100_000])
def test_build_grades_outside_the_byte_range(grade):
    scale = Scale((0.0, 100_000.0))
    batch = Batch.build([["b", "a"]], [{"a": grade}], scale)
    assert batch.known.grades.tolist() == [grade]
    assert np.array_equal(batch.grades[0], [np.nan, grade if grade >= 0 else np.nan], equal_nan=True)


@pytest.mark.parametrize(("grade", "message"), [("good", "'good'"), (None, "not None"), (float("nan"), "nan"),
                                                (float("inf"), "inf"), (4, "4 is above the top of the scale, 3")])  # fmt: skip
def test_build_refuses_invalid_grades(grade, message):
    with pytest.raises(GradeError, match=message):
        Batch.build([["a"]], [{"a": grade}], SCALE)


def test_build_refuses_different_lengths():
    with pytest.raises(GradeError, match="2 rankings"):
        Batch.build([["a"], ["b"]], [{}], SCALE)


def test_build_without_rankings():
    batch = Batch.build([], [], SCALE)
    assert len(batch) == 0
    assert batch.grades.shape == (0, 0)


def test_rows():
    batch = batch_from_grades([[1], [2, 3], [None]], SCALE, [[0], [], [3]])
    part = batch.rows(1, 3)
    assert part.grades[0].tolist() == [2, 3]
    assert part.returned.tolist() == [2, 1]
    assert part.known.counts.tolist() == [2, 1]
    assert part.known.grades.tolist() == [2, 3, 3]
