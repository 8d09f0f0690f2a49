import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relevancy.scoring import edit_distance
from relevancy.scoring.edit_distance import compute_edit_distances, find_edits

GRADES = st.lists(st.integers(0, 4), min_size=1, max_size=8)
PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=7)


@pytest.fixture(params=["loops", "arrays"])
def _algorithm(request, monkeypatch):
    if request.param == "arrays":
        monkeypatch.setattr(edit_distance, "_SMALL", -1)


def levenshtein(first: list[int], second: list[int]) -> int:
    row = list(range(len(second) + 1))
    for index, left in enumerate(first, start=1):
        next_row = [index]
        for column, right in enumerate(second, start=1):
            next_row.append(min(row[column] + 1, next_row[-1] + 1, row[column - 1] + (left != right)))
        row = next_row
    return row[-1]


@pytest.mark.usefixtures("_algorithm")
@given(PAIRS, st.integers(0, 7))
def test_compute_edit_distances_is_levenshtein(pairs, length):
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    length = min(length, len(pairs))
    distances = compute_edit_distances(np.array([first], float), np.array([second], float), np.array([float(length)]))
    assert distances[0] == levenshtein(first[:length], second[:length])


def test_compute_edit_distances_of_many_lists_equal_those_of_each():
    generator = np.random.default_rng(3)
    grades, ideal = generator.integers(0, 4, (2, 60, 12)).astype(float)
    lengths = generator.integers(0, 13, 60).astype(float)
    together = compute_edit_distances(grades, ideal, lengths)
    for row in range(60):
        alone = compute_edit_distances(grades[row : row + 1], ideal[row : row + 1], lengths[row : row + 1])
        assert together[row] == alone[0]


@settings(max_examples=300, deadline=None)
@given(GRADES, GRADES)
def test_find_edits_are_as_many_as_the_distance_and_lead_to_the_ideal_list(grades, ideal):
    ideal = (ideal + [0] * len(grades))[: len(grades)]
    edits = find_edits(grades, ideal)
    assert len(edits) == levenshtein(grades, ideal)
    assert apply_edits(grades, edits) == ideal


def apply_edits(grades, edits):
    """The list after the edits. Ranks are those of the original list; insertions at the same rank keep their order."""
    inserted: dict[int, list[float]] = {}
    remaining: dict[int, float | None] = dict(enumerate(grades, start=1))
    for edit in edits:
        if edit.removed is None:
            inserted.setdefault(edit.rank, []).append(edit.inserted)
        else:
            assert remaining[edit.rank] == edit.removed
            remaining[edit.rank] = edit.inserted
    result = list(inserted.get(0, []))
    for rank, grade in remaining.items():
        result += ([] if grade is None else [grade]) + inserted.get(rank, [])
    return result
