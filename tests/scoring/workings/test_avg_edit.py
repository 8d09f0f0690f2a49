import pytest

from relevancy.scoring import Scale, parse_measure, show_working
from relevancy.scoring.edit_distance import Edit
from relevancy.scoring.workings.avg_edit import describe_edit
from tests.scoring.ranking_scores import batch_from_grades


def show(grades, unretrieved=(), scale="0:3"):
    return show_working(parse_measure("AvgEdit@10"), batch_from_grades([grades], Scale.parse(scale), [unretrieved]), 10)


def test_avg_edit_example():
    working = show([10, 8, 9, None, 5, 1, 4, None, None, None], scale="1:10")
    assert working.conclusion == "⌊61.67⌋ − 4 = 57"
    assert working.column("counted") == (10, 8, 9, 0, 5, 1, 4, 0, 0, 0)
    assert working.column("ideal_grade") == (10, 9, 8, 5, 4, 1, 0, 0, 0, 0)
    assert working.column("equal") == (1, 0, 0, 0, 0, 1, 0, 1, 1, 1)
    assert len(working.notes) == 4
    assert working.result == 0.57


@pytest.mark.parametrize(
    ("grades", "unretrieved", "scale", "conclusion"),
    [
        ([3, 3], (), "0:3", "⌊100.00⌋ − 0 = 100"),
        ([1], (3,), "0:3", "⌊33.33⌋ − 1 = 32"),
        ([1, 1, 1], (100, 100, 100), "0:100", "⌊1.00⌋ − 3 = −2, which is below 0 and counts as 0"),
        ([56.997], (), "0:100", "⌊56.99⌋ − 0 = 56"),
        ([], (3,), "0:3", "⌊0.00⌋ − 0 = 0"),
    ],
)
def test_avg_edit_conclusion(grades, unretrieved, scale, conclusion):
    assert show(grades, unretrieved, scale).conclusion == conclusion


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (Edit(2, 8.0, 9.0), "Rank 2: replace 8 with 9."),
        (Edit(3, 0.5, None), "Rank 3: remove 0.5."),
        (Edit(2, None, 9.0), "After rank 2: insert 9."),
        (Edit(0, None, 0.0), "Before rank 1: insert 0."),
    ],
)
def test_describe_edit(edit, text):
    assert describe_edit(edit) == text
