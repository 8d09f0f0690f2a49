import pytest

from relevancy.scoring import Batch, Scale, parse_measure, score
from tests.scoring.ranking_scores import compute_value, score_ranking


def test_judged_example():
    assert compute_value("Judged@10", [3, None, 0, None]) == 0.5


def test_judged_does_not_count_grades_below_zero():
    assert compute_value("Judged@2", [-1, None, 3]) == 0
    assert compute_value("Judged@3", [-1, 0, 3]) == pytest.approx(2 / 3)


def test_judged_is_zero_where_there_is_nothing():
    assert compute_value("Judged@5", [None, None]) == 0
    assert compute_value("Judged@5", []) == 0
    assert compute_value("Judged@5", [], unretrieved=[1]) == 0


def test_judged_counts_a_repeated_document_once():
    rankings, known = [["a", "a", "b"], ["b", "b", "a"]], [{"a": 1}, {"a": 1}]
    scores = score(parse_measure("Judged@2"), Batch.build(rankings, known, Scale.parse("0:3")), 3)
    assert scores.value.tolist() == [1, 0]
    assert scores.unrated.tolist() == [0, 1]


def test_judged_has_no_bounds():
    scores = score_ranking("Judged@2", [3, None])
    assert str(scores.low[0]) == str(scores.high[0]) == "nan"
