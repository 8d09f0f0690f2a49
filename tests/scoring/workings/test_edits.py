import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relevancy.scoring import Batch, Scale, parse_measure, show_working
from relevancy.scoring.measures.avg_edit import edit_distance
from relevancy.scoring.workings.edits import edits

GRADES = st.lists(st.integers(0, 4), min_size=1, max_size=8)


@settings(max_examples=300, deadline=None)
@given(GRADES, GRADES)
def test_edits_are_as_many_as_the_distance_and_lead_to_the_best_list(found, best):
    best = (best + [0] * len(found))[: len(found)]
    said = edits(found, best)
    distance = edit_distance(np.array([found], float), np.array([best], float), np.array([len(found)], float))
    assert len(said) == distance[0]
    assert carried_out(found, said) == best


def carried_out(found, said):
    """The list after the edits; ranks are those of the list before, and insertions at one place keep their order."""
    after: dict[int, list[int]] = {}
    kept: dict[int, int | None] = dict(enumerate(found, start=1))
    for text in said:
        words = text.rstrip(".").split()
        if words[0] == "Rank":
            rank = int(words[1].rstrip(":"))
            assert kept[rank] == int(words[2])
            kept[rank] = int(words[-1]) if "becomes" in text else None
        else:
            rank = int(words[-1]) if "after" in text else int(words[-1]) - 1
            after.setdefault(rank, []).append(int(words[0]))
    result = list(after.get(0, []))
    for rank, grade in kept.items():
        result += ([] if grade is None else [grade]) + after.get(rank, [])
    return result


def show(grades, extra=(), scale="0:3"):
    return show_working(parse_measure("AvgEdit@10"), Batch.from_grades([grades], Scale.parse(scale), [extra]), 10)


def test_avg_edit_as_published():
    working = show([10, 8, 9, None, 5, 1, 4, None, None, None], scale="1:10")
    assert working.conclusion == "⌊61.67⌋ − 4 = 57"
    assert working.column("counted") == (10, 8, 9, 0, 5, 1, 4, 0, 0, 0)
    assert working.column("ideal_grade") == (10, 9, 8, 5, 4, 1, 0, 0, 0, 0)
    assert working.column("equal") == (1, 0, 0, 0, 0, 1, 0, 1, 1, 1)
    assert len(working.notes) == 4
    assert working.result == 0.57


@pytest.mark.parametrize(
    ("grades", "extra", "scale", "conclusion"),
    [
        ([3, 3], (), "0:3", "⌊100.00⌋ − 0 = 100"),
        ([1], (3,), "0:3", "⌊33.33⌋ − 1 = 32"),
        ([1, 1, 1], (100, 100, 100), "0:100", "⌊1.00⌋ − 3 = −2, and not below 0: 0"),
        ([56.997], (), "0:100", "⌊56.99⌋ − 0 = 56"),
        ([], (3,), "0:3", "⌊0.00⌋ − 0 = 0"),
    ],
)
def test_avg_edit_conclusion(grades, extra, scale, conclusion):
    assert show(grades, extra, scale).conclusion == conclusion
