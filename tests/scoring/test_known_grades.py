import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from relevancy.scoring import KnownGrades


def build_known_grades(rows):
    return KnownGrades(np.array([grade for row in rows for grade in row], float), np.cumsum([0, *map(len, rows)]))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(-1, 4), max_size=9), min_size=1, max_size=6), st.sampled_from([None, 1, 4]))
def test_best_sorts_each_query(rows, limit):
    best = build_known_grades(rows).best(limit)
    for row, sorted_row in zip(rows, best, strict=True):
        expected = sorted((max(grade, 0) for grade in row), reverse=True)[:limit]
        assert sorted_row.tolist() == expected + [0] * (best.shape[1] - len(expected))


def test_best_of_rows_of_very_different_length():
    generator = np.random.default_rng(1)
    rows = [generator.integers(0, 4, length).tolist() for length in (3, 700, 0, 64, 65, 5000)]
    best = build_known_grades(rows).best(None)
    assert best.shape == (6, 5000)
    for row, sorted_row in zip(rows, best, strict=True):
        assert sorted_row[: len(row)].tolist() == sorted(row, reverse=True)


def test_count():
    known = build_known_grades([[3, 1], [], [0, 2, 2]])
    assert known.count(known.grades >= 2).tolist() == [1, 0, 2]
    single = build_known_grades([[3, 1, 2]])
    assert single.count(single.grades >= 2).tolist() == [2]


def test_ranked_keeps_grades_below_zero_and_pads_with_nan():
    ranked = build_known_grades([[0, -1, 2], [1]]).ranked(None)
    assert np.array_equal(ranked, [[2, 0, -1], [1, np.nan, np.nan]], equal_nan=True)
    assert build_known_grades([[0, -1, 2]]).ranked(2).tolist() == [[2, 0]]


def test_rows_and_take_select_queries():
    known = build_known_grades([[3, 1], [], [0, 2, 2]])
    assert known.rows(1, 3).grades.tolist() == [0, 2, 2]
    assert known.rows(1, 3).counts.tolist() == [0, 3]
    repeated = known.take(np.array([2, 0, 1, 0]))
    assert repeated.grades.tolist() == [0, 2, 2, 3, 1, 3, 1]
    assert repeated.counts.tolist() == [3, 2, 0, 2]
