"""Everything that an explanation states is true."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relevancy.scoring import (
    Batch,
    Definition,
    GradeError,
    Measure,
    Scale,
    describe_ranking,
    get_definitions,
    give_reasons,
    parse_measure,
    score,
    show_working,
)
from relevancy.scoring.reasons.facts import count_in_words
from relevancy.scoring.rounding import format_rounded
from tests.scoring.measure_variants import MEASURES, SOME_MEASURES, single_query_batches
from tests.scoring.ranking_scores import batch_from_grades
from tests.scoring.reasons.truth import build_world

RANGE = re.compile(r"; rating (?:it|them) would give a score between ([\d.]+) and ([\d.]+)$")
ORDERLESS = [
    text for text in MEASURES if text.partition("(")[0] in ("P", "R", "Success", "CG") and not text.endswith("@1")
]


def build_batch(grades, unretrieved=(), scale="0:3"):
    return batch_from_grades([grades], Scale.parse(scale), [unretrieved])


def explain_in_words(measure, grades, unretrieved=(), scale="0:3", depth=10):
    return give_reasons(parse_measure(measure), build_batch(grades, unretrieved, scale), depth).sentence


def as_clause(reason):
    """A reason as it stands in the sentence, without its range."""
    text = RANGE.sub("", reason[:-1])
    return text if text.startswith(("ERR", "RBP")) else text[:1].lower() + text[1:]


@settings(max_examples=150, deadline=None)
@given(SOME_MEASURES, single_query_batches(), st.integers(1, 10))
def test_explain_states_only_what_is_true(texts, drawn, depth):
    for text in texts:
        batch, ranking, known = drawn
        measure = parse_measure(text)
        explanation, scores = give_reasons(measure, batch, depth), score(measure, batch, depth)
        world = build_world(text, ranking, known, batch.scale, depth)
        for reason in explanation.reasons:
            world.check(as_clause(reason))
            if match := RANGE.search(reason[:-1]):
                assert match.groups() == (format_rounded(scores.low[0], 1), format_rounded(scores.high[0], 1))
        assert 1 <= len(explanation.reasons) <= 3
        start = "Not scoreable because" if np.isnan(scores.score[0]) else format_rounded(scores.score[0], 1)
        assert explanation.sentence.startswith(start)
        assert explanation.sentence.endswith(".") and ".." not in explanation.sentence
        if "as much as the ideal list" in explanation.sentence:
            assert scores.value[0] == pytest.approx(1)


@settings(max_examples=200, deadline=None)
@given(single_query_batches(), st.integers(1, 10))
def test_describe_ranking_states_only_what_is_true(drawn, depth):
    batch, ranking, known = drawn
    explanation = describe_ranking(42.05, batch, depth)
    world = build_world("nDCG", ranking, known, batch.scale, depth)
    for reason in explanation.reasons:
        world.check(as_clause(reason))
    assert explanation.sentence.startswith("42.1: ")


@settings(max_examples=150, deadline=None)
@given(single_query_batches(min_results=1), st.sampled_from(["AvgEdit", "AvgEdit@1", "AvgEdit@4"]))
def test_explain_avg_edit_names_both_parts(drawn, text):
    batch, ranking, known = drawn
    measure = parse_measure(text)
    sentence, working = give_reasons(measure, batch, 6).sentence, show_working(measure, batch, 6)
    if working.result is None:
        return
    if match := re.search(r"(\w+) edits? away", sentence):
        assert match[1] == count_in_words(int(working.totals["edits"]))
    else:
        assert working.totals["edits"] == 0
    mean = float(re.search(r"grade (?:of )?([\d.]+) out of", sentence)[1])
    rated = [known[doc] for doc in dict.fromkeys(ranking[: measure.cutoff or 6]) if doc in known]
    assert mean == pytest.approx(sum(rated) / len(rated), abs=0.00501)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(ORDERLESS), single_query_batches(), st.integers(2, 10))
def test_explain_does_not_mention_order_if_the_measure_ignores_it(text, drawn, depth):
    assert not re.search(
        r"at rank|ranked|above (?!0)|edit|order", give_reasons(parse_measure(text), drawn[0], depth).sentence
    )


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(["Judged", "Judged@4"]), single_query_batches(), st.integers(1, 10))
def test_explain_judged_mentions_only_coverage(text, drawn, depth):
    sentence = give_reasons(parse_measure(text), drawn[0], depth).sentence
    assert re.fullmatch(
        r"[\d.]+ because [\w ]+ (is|are) (not rated|(un)?rated)\.|0\.0 because no results were returned\.", sentence
    )


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([text for text in MEASURES if "rel" in parse_measure(text).parameters]), single_query_batches())
def test_explain_measures_of_relevance_without_grades(text, drawn):
    assert not re.search(r"best|top grade|better", give_reasons(parse_measure(text), drawn[0], 5).sentence)


@pytest.mark.parametrize(
    ("measure", "grades", "unretrieved", "sentence"),
    [
        (
            "nDCG@10", [None, 1, None, 3, 2, 0, None, 1, 1, 0], (2,),
            "46.9 because three of the first ten results are unrated, the best known document is at rank 4, and one of the "
            "six best known documents is not among the first ten results.",
        ),
        ("nDCG@3", [3, 2, 1], (), "100.0 because the first three results together gain as much as the ideal list."),
        ("nDCG@10", [3], (), "100.0 because the only result returned gains as much as the ideal list."),
        ("nDCG@1", [2], (3,), "42.9 because the best known document is not at rank 1."),
        (
            "nDCG(ideal='local')@3", [1, 2, 2], (),
            "81.5 because the best grade in the first three results first appears at rank 2 and one of the first three "
            "results is ranked above a better one.",
        ),
        (
            "P@3", [1, 0, None], (1,),
            "33.3 because one of the first three results is rated relevant, one of the first three results is unrated, and "
            "one of the two known relevant documents is not among the first three results.",
        ),
        ("RR@3", [0, 0, 0, 1], (), "0.0 because the first relevant result is at rank 4, below the first three results."),
        ("RR@3", [1, None], (), "100.0 because the result at rank 1 is relevant."),
        ("AP", [1, 1], (), "100.0 because both known relevant documents are at ranks 1 and 2."),
        ("AvgEdit@3", [1, 3], (), "64.0 because the rated results have an average grade of 2 out of 3 and the two results "
         "returned are two edits away from the ideal list."),
        ("Judged@4", [1, None, None, 0], (), "50.0 because two of the first four results are unrated."),
        ("Judged@4", [1, 0, 1, 0], (), "100.0 because all of the first four results are rated."),
        ("P@4", [], (1, 1), "0.0 because no results were returned, although two relevant documents are known."),
        ("DCG@4", [], (0,), "0.0 because no results were returned."),
        ("nDCG@4", [None], (), "Not scoreable because no document has been rated for this query."),
        ("AP(rel=2)", [1], (), "Not scoreable because no relevant document (grade 2 or higher) is known."),
        (
            "RBP@2", [1, 1], (),
            "36.0 because both of the first two results are relevant. RBP reaches 100 only for an infinitely long list of "
            "relevant documents.",
        ),
        (
            "nDCG(unrated='skip')@2", [None, 1, 2], (),
            "79.7 because the best known document is at rank 2 of the results counted and one of the first two results "
            "counted is ranked above a better one. One of the first two results is unrated and was skipped.",
        ),
    ],
)  # fmt: skip
def test_explain_in_words(measure, grades, unretrieved, sentence):
    assert explain_in_words(measure, grades, unretrieved) == sentence


@pytest.mark.parametrize(
    ("grades", "unretrieved", "clause"),
    [
        ([1] * 3, (3, 3), "neither of the two best known documents is among the first three results"),
        ([2] + [0] * 9, (3,) * 9, "none of the nine best known documents is among the first ten results"),
        ([0] * 3, (3, 3, 2), "none of the three best known documents is among the first three results"),
        (
            [1] + [0] * 9, (3, 3, 2),
            "three of the four best known documents, including the two best, are not among the first ten results",
        ),
        ([1, 0, 0], (3, 2), "two of the three best known documents, including the best one, are not among the first three "
         "results"),
        ([0, 0, 0, 3], (), "the best known document is at rank 4, below the first three results"),
    ],
)  # fmt: skip
def test_explain_mentions_missing_documents_once(grades, unretrieved, clause):
    depth = 10 if len(grades) == 10 else 3
    sentence = explain_in_words(f"nDCG@{depth}", grades, unretrieved)
    assert f"because {clause}" in sentence
    assert sentence.count("best known") == 1


def test_reasons_contain_the_range_that_rating_would_lead_to():
    explanation = give_reasons(parse_measure("P@2"), build_batch([1, None]), 2)
    assert (
        "One of the first two results is unrated; rating it would give a score between 50.0 and 100.0."
        in explanation.reasons
    )


def test_explain_unrated_documents_that_cannot_raise_the_score_are_a_remark():
    assert explain_in_words("RR@3", [0, 1, None]) == (
        "50.0 because the first relevant result is at rank 2. One of the first three results is unrated."
    )


def test_explain_distinguishes_lower_ranks_from_not_returned():
    assert explain_in_words("nDCG@2", [0, 0, 3]) == (
        "0.0 because the best known document is at rank 3, below the first two results."
    )
    sentence = explain_in_words("nDCG@3", [1, 0], (3,))
    assert "the best known document was not returned" in sentence


def test_explain_mentions_repeats():
    batch = Batch.build([["a", "b", "a"]], [{"a": 3.0, "b": 3.0}], Scale.parse("0:3"))
    assert give_reasons(parse_measure("P@3"), batch, 3).sentence == (
        "66.7 because two of the first three results, not counting repeats, are relevant and one of the first three "
        "results is a repeat."
    )
    sentence = give_reasons(parse_measure("Judged@3"), batch, 3).sentence
    assert sentence == "100.0 because none of the first three results is unrated."


def test_describe_ranking_without_because():
    sentences = [
        describe_ranking(None, build_batch([1, None]), 2).sentence,
        describe_ranking(7, build_batch([]), 2).sentence,
        describe_ranking(7, build_batch([], (2,)), 2).sentence,
        describe_ranking(100, build_batch([3, 3, 1]), 3).sentence,
    ]
    assert sentences == [
        "Not scored: one of the first two results is unrated.",
        "7.0: no document has been rated for this query.",
        "7.0: no results were returned, although one document with a grade above 0 is known.",
        "100.0: the first three results are in order from best to worst.",
    ]


LENGTH = Definition("Length", "Length", "Number of results.", lambda slots, _settings: slots.filled_counts / 10)


def test_explain_measure_without_reasons_of_its_own(monkeypatch):
    monkeypatch.setattr(
        "relevancy.scoring.registry.get_definitions", lambda: {**get_definitions(), LENGTH.name: LENGTH}
    )
    assert give_reasons(Measure("Length", (), 5), build_batch([1, None, 3]), 5).sentence == (
        "30.0: one of the three results returned is unrated and only three results were returned."
    )
    sentence = give_reasons(Measure("Length", (), 2), build_batch([1, 3]), 5).sentence
    assert sentence == "20.0: both of the first two results are rated."


def test_explain_refuses_several_queries():
    batch = batch_from_grades([[1], [2]], Scale.parse("0:3"))
    with pytest.raises(GradeError, match="the batch has 2"):
        give_reasons(parse_measure("AP"), batch, 10)
    with pytest.raises(GradeError, match="the batch has 2"):
        describe_ranking(50.0, batch, 10)
