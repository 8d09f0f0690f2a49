import math

import pytest

from relevancy.scoring import GradeError, MeasureError, Scale, ScaleError, evaluate, mean_value

QRELS = {"q1": {"a": 3, "b": 0, "c": 1}, "q2": {"a": 0}, "q3": {"x": 2}, "q4": {}}


def test_evaluate_lists_every_query_of_the_qrels():
    values = evaluate(["P@2", "AP", "nDCG(gain='linear')@1"], QRELS, {"q1": ["a", "b", "c"], "other": ["a"]})
    assert values == {
        "P@2": {"q1": 0.5, "q2": 0, "q3": 0, "q4": None},
        "AP": {"q1": pytest.approx(5 / 6), "q2": None, "q3": 0, "q4": None},
        "nDCG(gain='linear')@1": {"q1": 1, "q2": None, "q3": 0, "q4": None},
    }


def test_evaluate_keys_are_the_measures_as_written():
    assert list(evaluate(["P( rel=1 )@2", "P@2"], QRELS, {})) == ["P( rel=1 )@2", "P@2"]


def test_evaluate_sorts_engine_scores_ties_by_id_descending():
    run = {"q1": {"b": 1.5, "a": 1.5, "c": 7}, "q3": {"y": 1, "x": 1, "z": 1}}
    assert evaluate(["RR", "RR(rel=3)"], QRELS, run)["RR(rel=3)"]["q1"] == 1 / 3
    assert evaluate(["RR"], QRELS, run)["RR"]["q3"] == 1 / 3


def test_evaluate_accepts_lists_and_scores():
    run = {"q1": ["b", "a"], "q3": {"y": 3.0, "x": 2.0, "w": float("-inf")}}
    assert evaluate(["RR"], QRELS, run)["RR"] == {"q1": 1 / 2, "q2": None, "q3": 1 / 2, "q4": None}


def test_evaluate_counts_a_document_once():
    run = {"q1": ["c", "c", "a"], "q3": ["x", "x", "x"]}
    values = evaluate(["P@3", "CG(gain='linear')", "Judged@3", "P(unrated='skip')@3"], QRELS, run)
    assert values["P@3"]["q1"] == pytest.approx(2 / 3)
    assert values["CG(gain='linear')"] == {"q1": 4, "q2": 0, "q3": 2, "q4": None}
    assert values["Judged@3"]["q3"] == 1
    assert values["P(unrated='skip')@3"]["q3"] == pytest.approx(1 / 3)


def test_evaluate_relevant_from_is_one_whatever_the_scale():
    for scale in (None, "1:10", Scale.parse("1:10")):
        assert evaluate(["P@1"], {"q": {"a": 1}}, {"q": ["a"]}, scale)["P@1"]["q"] == 1


def test_evaluate_scale():
    qrels, run = {"q": {"a": 2}, "r": {"b": 3}}, {"q": ["a"], "r": ["b"]}
    assert evaluate(["ERR"], qrels, run)["ERR"]["q"] == 3 / 8
    assert evaluate(["ERR"], qrels, run, "0:4")["ERR"]["q"] == 3 / 16
    assert evaluate(["ERR"], {"q": {"a": 0.5}}, run)["ERR"]["q"] == pytest.approx((math.sqrt(2) - 1) / 2)
    with pytest.raises(GradeError, match="Grade 3 is above the top of the scale, 2"):
        evaluate(["ERR"], qrels, run, "0:2")
    with pytest.raises(ScaleError, match="'big'"):
        evaluate(["ERR"], qrels, run, "big")


def test_evaluate_ideal_is_not_cut_without_a_cutoff():
    qrels = {"q": dict.fromkeys("abcd", 1)}
    best = sum(1 / math.log2(rank + 1) for rank in range(1, 5))
    assert evaluate(["nDCG"], qrels, {"q": ["a"]})["nDCG"]["q"] == pytest.approx(1 / best)


def test_evaluate_gives_the_same_value_for_cut_and_whole_rankings():
    qrels, run = {"q": {"a": 1, "z": 3}}, {"q": ["b", "a", "c", "z"]}
    alone = evaluate(["nDCG@2"], qrels, run)["nDCG@2"]
    assert alone == evaluate(["nDCG@2", "AP"], qrels, run)["nDCG@2"]
    assert evaluate(["P(denominator='returned')@3"], qrels, run)["P(denominator='returned')@3"]["q"] == 1 / 3


def test_evaluate_without_queries_measures_or_grades():
    assert evaluate(["AP"], {}, {"q": ["a"]}) == {"AP": {}}
    assert evaluate([], QRELS, {}) == {}
    assert evaluate(["Judged@5", "AP"], {"q": {}}, {}) == {"Judged@5": {"q": 0}, "AP": {"q": None}}


@pytest.mark.parametrize("score", [None, "high", float("nan")])
def test_evaluate_refuses_invalid_engine_scores(score):
    with pytest.raises(GradeError, match=r"document 'b' for query 'q1' must be a number, not"):
        evaluate(["AP"], QRELS, {"q1": {"a": 1.0, "b": score}})


def test_evaluate_refuses_invalid_measures_and_grades():
    with pytest.raises(MeasureError, match="There is no measure 'MAP'"):
        evaluate(["MAP"], QRELS, {})
    with pytest.raises(GradeError, match="'3'"):
        evaluate(["AP"], {"q": {"a": "3"}}, {"q": ["a"]})
    with pytest.raises(GradeError, match="too large for a float"):
        evaluate(["AP"], {"q": {"a": 10**400}}, {"q": ["a"]})


def test_mean_value():
    assert mean_value([1.0, None, 0.5]) == 0.75
    assert mean_value([1.0, None, 0.5], count_unscoreable_as_zero=True) == 0.5
    assert mean_value([None]) is None
    assert mean_value([], count_unscoreable_as_zero=True) is None
