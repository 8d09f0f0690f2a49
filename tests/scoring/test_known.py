import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from relevancy.scoring import Known


def known(rows):
    return Known(np.array([grade for row in rows for grade in row], float), np.cumsum([0, *map(len, rows)]))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(-1, 4), max_size=9), min_size=1, max_size=6), st.sampled_from([None, 1, 4]))
def test_best_sorts_each_query(rows, most):
    best = known(rows).best(most)
    for row, found in zip(rows, best, strict=True):
        wanted = sorted((max(grade, 0) for grade in row), reverse=True)[:most]
        assert found.tolist() == wanted + [0] * (best.shape[1] - len(wanted))


def test_best_of_lists_of_very_different_length():
    chance = np.random.default_rng(1)
    rows = [chance.integers(0, 4, length).tolist() for length in (3, 700, 0, 64, 65, 5000)]
    best = known(rows).best(None)
    assert best.shape == (6, 5000)
    for row, found in zip(rows, best, strict=True):
        assert found[: len(row)].tolist() == sorted(row, reverse=True)


def test_count():
    every = known([[3, 1], [], [0, 2, 2]])
    assert every.count(every.grades >= 2).tolist() == [1, 0, 2]
