"""What an explanation says is so."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relevancy.scoring import (
    Batch,
    Definition,
    GradeError,
    Scale,
    definitions,
    explain,
    explain_grades,
    parse_measure,
    score,
    show_working,
)
from relevancy.scoring.measure import Measure
from relevancy.scoring.wording import half_up, in_words
from tests.scoring.every_measure import MEASURES, SOME, batches
from tests.scoring.truth import world

RANGE = re.compile(r"; rating (?:it|them) would put the score between ([\d.]+) and ([\d.]+)$")
ORDERLESS = [
    text for text in MEASURES if text.partition("(")[0] in ("P", "R", "Success", "CG") and not text.endswith("@1")
]


def one(grades, extra=(), scale="0:3"):
    return Batch.from_grades([grades], Scale.parse(scale), [extra])


def said(measure, grades, extra=(), scale="0:3", shown=10):
    return explain(parse_measure(measure), one(grades, extra, scale), shown).sentence


def clause(reason):
    """A reason as it stands in a sentence, without its range."""
    text = RANGE.sub("", reason[:-1])
    return text if text.startswith("ERR") else text[:1].lower() + text[1:]


@settings(max_examples=150, deadline=None)
@given(SOME, batches(), st.integers(1, 10))
def test_explain_states_nothing_that_is_not_so(texts, drawn, shown):
    for text in texts:
        batch, ranking, known = drawn
        measure = parse_measure(text)
        explanation, scores = explain(measure, batch, shown), score(measure, batch, shown)
        here = world(text, ranking, known, batch.scale, shown)
        for reason in explanation.reasons:
            here.check(clause(reason))
            if found := RANGE.search(reason[:-1]):
                assert found.groups() == (half_up(scores.low[0], 1), half_up(scores.high[0], 1))
        assert 1 <= len(explanation.reasons) <= 3
        begins = "Not scoreable because" if np.isnan(scores.score[0]) else half_up(scores.score[0], 1)
        assert explanation.sentence.startswith(begins)
        assert explanation.sentence.endswith(".") and ".." not in explanation.sentence
        if "worth as much as the ideal" in explanation.sentence:
            assert scores.value[0] == pytest.approx(1)


@settings(max_examples=200, deadline=None)
@given(batches(), st.integers(1, 10))
def test_explain_grades_states_nothing_that_is_not_so(drawn, shown):
    batch, ranking, known = drawn
    explanation = explain_grades(42.05, batch, shown)
    here = world("nDCG", ranking, known, batch.scale, shown)
    for reason in explanation.reasons:
        here.check(clause(reason))
    assert explanation.sentence.startswith("42.1: ")


@settings(max_examples=150, deadline=None)
@given(batches(least=1), st.sampled_from(["AvgEdit", "AvgEdit@1", "AvgEdit@4"]))
def test_explain_names_the_parts_of_avg_edit(drawn, text):
    batch, ranking, known = drawn
    measure = parse_measure(text)
    sentence, working = explain(measure, batch, 6).sentence, show_working(measure, batch, 6)
    if working.result is None:
        return
    if found := re.search(r"(\w+) edits? away", sentence):
        assert found[1] == in_words(int(working.totals["edits"]))
    else:
        assert working.totals["edits"] == 0
    mean = float(re.search(r"(?:average|document has) ([\d.]+) of", sentence)[1])
    rated = [known[doc] for doc in dict.fromkeys(ranking[: measure.depth(6)]) if doc in known]
    assert mean == pytest.approx(sum(rated) / len(rated), abs=0.00501)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(ORDERLESS), batches(), st.integers(2, 10))
def test_measures_that_ignore_order_are_not_explained_by_it(text, drawn, shown):
    assert not re.search(r"at rank|above (?!0)|edit|order", explain(parse_measure(text), drawn[0], shown).sentence)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(["Judged", "Judged@4"]), batches(), st.integers(1, 10))
def test_judged_is_explained_by_coverage_alone(text, drawn, shown):
    sentence = explain(parse_measure(text), drawn[0], shown).sentence
    assert re.fullmatch(r"[\d.]+ because [\w ]+ (is|are) (un)?rated\.|0\.0 because nothing was returned\.", sentence)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([text for text in MEASURES if "rel" in parse_measure(text).parameters]), batches())
def test_measures_of_relevance_speak_of_relevant_documents(text, drawn):
    assert not re.search(r"best|top grade|better", explain(parse_measure(text), drawn[0], 5).sentence)


@pytest.mark.parametrize(
    ("measure", "grades", "extra", "sentence"),
    [
        (
            "nDCG@10", [None, 1, None, 3, 2, 0, None, 1, 1, 0], (2,),
            "46.9 because three of the first ten are unrated, the best document known is at rank 4 and one of the six "
            "best documents known is not among the first ten.",
        ),
        ("nDCG@3", [3, 2, 1], (), "100.0 because the first three together are worth as much as the ideal list."),
        ("nDCG@10", [3], (), "100.0 because the only document returned is worth as much as the ideal list."),
        ("nDCG@1", [2], (3,), "42.9 because the best document known is not at rank 1."),
        (
            "P@3", [1, 0, None], (1,),
            "33.3 because one of the first three is rated relevant, one of the first three is unrated and one of the two "
            "known relevant documents is not among the first three.",
        ),
        ("RR@3", [0, 0, 0, 1], (), "0.0 because the first known relevant document is at rank 4, below the first three."),
        ("RR@3", [1, None], (), "100.0 because the document at rank 1 is relevant."),
        ("AP", [1, 1], (), "100.0 because both known relevant documents are at ranks 1 to 2."),
        ("Judged@4", [1, None, None, 0], (), "50.0 because two of the first four are unrated."),
        ("Judged@4", [1, 0, 1, 0], (), "100.0 because all of the first four are rated."),
        ("P@4", [], (1, 1), "0.0 because nothing was returned although two relevant documents are known."),
        ("DCG@4", [], (0,), "0.0 because nothing was returned."),
        ("nDCG@4", [None], (), "Not scoreable because nobody has rated anything for this query."),
        (
            "RBP@2", [1, 1], (),
            "36.0 because both of the first two are relevant. Only an endless list of relevant documents reaches 100.",
        ),
        (
            "nDCG(unrated='skip')@2", [None, 1, 2], (),
            "79.7 because the best document known is at rank 2 of those counted and one of the first two counted stands "
            "above a better one. One of the first two is unrated and was left out.",
        ),
    ],
)  # fmt: skip
def test_explain_in_words(measure, grades, extra, sentence):
    assert said(measure, grades, extra) == sentence


def test_reasons_give_the_range_that_rating_would_lead_to():
    explanation = explain(parse_measure("P@2"), one([1, None]), 2)
    assert (
        "One of the first two is unrated; rating it would put the score between 50.0 and 100.0." in explanation.reasons
    )


def test_unrated_documents_that_could_not_raise_the_score_are_an_aside():
    assert said("RR@3", [0, 1, None]) == (
        "50.0 because the first known relevant document is at rank 2. One of the first three is unrated."
    )


def test_a_document_that_stands_below_is_not_called_missing_from_the_ranking():
    assert said("nDCG@2", [0, 0, 3]) == "0.0 because the best document known is at rank 3, below the first two."
    assert "the best document known was not returned" in said("nDCG@3", [1, 0], (3,))


def test_repeats_are_spoken_of():
    batch = Batch.build([["a", "b", "a"]], [{"a": 3.0, "b": 3.0}], Scale.parse("0:3"))
    assert explain(parse_measure("P@3"), batch, 3).sentence == (
        "66.7 because two of the first three, repeats aside, are relevant and one of the first three is a repeat."
    )
    assert explain(parse_measure("Judged@3"), batch, 3).sentence == "100.0 because none of the first three is unrated."


def test_explain_grades_without_a_score():
    assert explain_grades(None, one([1, None]), 2).sentence == "Not scored: one of the first two is unrated."
    assert explain_grades(7, one([]), 2).sentence == "7.0: nobody has rated anything for this query."
    assert explain_grades(7, one([], (2,)), 2).sentence == (
        "7.0: nothing was returned although one document with a grade above 0 is known."
    )
    assert explain_grades(100, one([3, 3, 1]), 3).sentence == "100.0: the first three stand from best to worst."


SHOWN = Definition("Shown", "Shown", "How many results there are.", lambda slots, _settings: slots.held / 10)


def test_a_measure_without_reasons_gets_those_that_always_hold(monkeypatch):
    monkeypatch.setattr("relevancy.scoring.measure.definitions", lambda: {**definitions(), "Shown": SHOWN})
    assert explain(Measure("Shown", (), 5), one([1, None, 3]), 5).sentence == (
        "30.0: one of the three returned is unrated and only three documents were returned."
    )
    assert explain(Measure("Shown", (), 2), one([1, 3]), 5).sentence == "20.0: both of the first two are rated."


def test_only_one_query_at_a_time():
    batch = Batch.from_grades([[1], [2]], Scale.parse("0:3"))
    with pytest.raises(GradeError, match="one query, not of 2"):
        explain(parse_measure("AP"), batch, 10)
    with pytest.raises(GradeError, match="one query, not of 2"):
        explain_grades(50.0, batch, 10)
