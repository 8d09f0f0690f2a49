from relevancy.scoring import Batch, Scale, parse_measure, score
from tests.scoring.one_ranking import scores_of, value_of


def test_judged_worked_example():
    assert value_of("Judged@10", [3, None, 0, None]) == 0.5


def test_judged_counts_grades_below_zero():
    assert value_of("Judged@2", [-1, None, 3]) == 0.5


def test_judged_is_zero_where_there_is_nothing():
    assert value_of("Judged@5", [None, None]) == 0
    assert value_of("Judged@5", []) == 0
    assert value_of("Judged@5", [], extra=[1]) == 0


def test_judged_counts_a_repeated_document_once():
    rankings, known = [["a", "a", "b"], ["b", "b", "a"]], [{"a": 1}, {"a": 1}]
    scores = score(parse_measure("Judged@2"), Batch.build(rankings, known, Scale.parse("0:3")), 3)
    assert scores.value.tolist() == [1, 0]
    assert scores.unrated.tolist() == [0, 1]


def test_judged_has_no_bounds():
    scores = scores_of("Judged@2", [3, None])
    assert str(scores.low[0]) == str(scores.high[0]) == "nan"
