import math
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relevancy.scoring import (
    Batch,
    Scale,
    Scores,
    assess,
    compute_values,
    give_reasons,
    parse_measure,
    score,
    score_ideal,
    show_working,
)
from relevancy.scoring.assessment import chunk
from tests.scoring.measure_variants import SOME_MEASURES, single_query_batches

SCALE = Scale.parse("0:3")


def score_batch(text, batch, **options):
    return score(parse_measure(text), batch, 10, **options)


def random_batch(queries, seed=7):
    generator = np.random.default_rng(seed)
    grades = generator.integers(0, 4, (queries, 8)).astype(object)
    grades[generator.random((queries, 8)) < 0.4] = None
    rankings = [row[: generator.integers(0, 9)].tolist() for row in grades]
    others = [generator.integers(0, 4, count).tolist() for count in generator.integers(0, 9, queries)]
    return Batch.from_grades(rankings, SCALE, others)


def test_score_decides_what_is_not_scoreable():
    # Per query: no rating; only grade 0 known; a relevant document known, but nothing returned, or only an unrated one.
    batch = Batch.from_grades([[None], [0, None], [], [None]], SCALE, [[], [], [2], [2]])
    nan = np.nan
    for text in ("nDCG@5", "R@5", "AP", "RR@5", "Success@5", "Bpref"):
        assert score_batch(text, batch).score == pytest.approx([nan, nan, 0, 0], nan_ok=True), text
    for text in ("P@5", "CG@5", "DCG@5", "ERR@5", "RBP@5", "nDCG(ideal='max')@5"):
        assert score_batch(text, batch).score == pytest.approx([nan, 0, 0, 0], nan_ok=True), text
    assert score_batch("Judged@5", batch).score.tolist() == [0, 50, 0, 0]
    assert score_batch("AvgEdit@5", batch).score == pytest.approx([nan, 0, 0, nan], nan_ok=True)
    assert score_batch("AvgEdit@5", batch).is_scoreable.tolist() == [False, True, True, False]


def test_score_can_count_unscoreable_queries_as_zero():
    batch = Batch.from_grades([[None], [3]], SCALE)
    scores = score_batch("nDCG@5", batch, count_unscoreable_as_zero=True)
    assert scores.score.tolist() == [0, 100]
    assert scores.value.tolist() == [0, 1]
    assert scores.is_scoreable.tolist() == [False, True]
    assert np.isnan(score_batch("nDCG@5", batch).value[0])


def test_score_counts_unrated_documents_in_the_first_k():
    batch = Batch.build([list("abcd"), list("aab"), []], [{"a": 1}, {}, {}], SCALE)
    assert score_batch("P@3", batch).unrated.tolist() == [2, 2, 0]
    assert score_batch("P(unrated='skip')@3", batch).unrated.tolist() == [2, 2, 0]
    assert score_batch("AP", batch).unrated.tolist() == [3, 2, 0]


def test_score_repeat_keeps_its_slot_and_has_no_gain():
    batch = Batch.build([["a", "a", "b"]], [{"a": 1, "b": 1}], SCALE)
    assert score_batch("P@3", batch).value[0] == pytest.approx(2 / 3)
    assert score_batch("AP", batch).value[0] == pytest.approx((1 + 2 / 3) / 2)
    assert score_batch("AP(unrated='skip')", batch).value[0] == pytest.approx((1 + 2 / 3) / 2)
    assert score_batch("CG(gain='linear')@3", batch).value[0] == 2


def test_score_of_no_queries():
    scores = score_batch("nDCG@5", Batch.from_grades([], SCALE))
    assert len(scores.score) == len(scores.low) == 0


@pytest.mark.parametrize("text", ["nDCG@5", "nDCG(unrated='skip')", "AP", "AvgEdit", "Bpref", "ERR", "P@3", "RR", "CG"])
def test_score_if_no_query_has_results(text):
    scores = score_batch(text, Batch.from_grades([[], []], SCALE, [[3], []]))
    assert scores.score[0] == 0
    assert np.isnan(scores.score[1])


def test_compute_values_are_those_of_score():
    batch = Batch.from_grades([[3, None, 1], [None]], SCALE)
    measure = parse_measure("nDCG@3")
    assert compute_values(measure, batch, 3) == pytest.approx(score(measure, batch, 3).value, nan_ok=True)


def test_score_in_chunks_equals_score_of_each():
    generator = np.random.default_rng(5)
    batch = Batch.from_grades(generator.integers(0, 4, (900, 600)).tolist(), SCALE)
    assert len(chunk(batch)) > 1
    together = score(parse_measure("AP@20"), batch, 20)
    for query in (0, 450, 899):
        alone = score(parse_measure("AP@20"), batch.rows(query, query + 1), 20)
        assert alone.score[0] == together.score[query]
    assert len(together.unrated) == 900
    assert len(chunk(Batch.from_grades([], SCALE))) == 1


@settings(max_examples=150, deadline=None)
@given(SOME_MEASURES, single_query_batches(), st.integers(1, 10), st.booleans())
def test_assess_equals_the_separate_calls(texts, drawn, depth, count_unscoreable_as_zero):
    batch = drawn[0]
    for text in texts:
        measure = parse_measure(text)
        assessment = assess(measure, batch, depth, count_unscoreable_as_zero=count_unscoreable_as_zero)
        separate = score(measure, batch, depth, count_unscoreable_as_zero=count_unscoreable_as_zero)
        for field in fields(Scores):
            if field.name != "ideal":
                left, right = getattr(assessment.scores, field.name), getattr(separate, field.name)
                assert np.array_equal(left, right, equal_nan=True), (text, field.name)
        if separate.is_scoreable[0]:
            assert assessment.scores.ideal[0] == score_ideal(measure, batch, depth)[0]
        else:
            assert np.array_equal(assessment.scores.ideal, separate.score, equal_nan=True)
        assert assessment.give_reasons() == give_reasons(measure, batch, depth)
        assert assessment.show_working() == show_working(measure, batch, depth)


@pytest.mark.parametrize("text", ["AvgEdit", "nDCG@5", "nDCG(unrated='skip')@5", "AP", "P@3", "Judged", "Bpref"])
def test_assess_explains_each_query_of_a_batch(text):
    batch, measure = random_batch(40), parse_measure(text)
    assessment = assess(measure, batch, 6)
    for query in range(len(batch)):
        alone = batch.rows(query, query + 1)
        assert assessment.give_reasons(query) == give_reasons(measure, alone, 6)
        together, separate = assessment.show_working(query), show_working(measure, alone, 6)
        assert together.rows == separate.rows and together.conclusion == separate.conclusion


def test_assess_leaves_out_what_was_not_asked_for():
    assessment = assess(parse_measure("P@2"), Batch.from_grades([[1, None]], SCALE), 2, bounds=False, ideal=False)
    scores = assessment.scores
    assert (scores.score[0], scores.unrated[0]) == (50, 1)
    assert all(math.isnan(column[0]) for column in (scores.low, scores.high, scores.ideal))
    assert "between" not in " ".join(assessment.give_reasons().reasons)


def test_assess_computes_the_measure_twice_at_most(monkeypatch):
    """Once for the ranking and once for the ideal; explanation and working need no further pass."""
    calls = []
    definition = parse_measure("P@3").definition

    def count_call(slots, settings):
        calls.append(len(slots.grades))
        return definition.compute(slots, settings)

    counted = type(definition)(**{**vars(definition), "compute": count_call, "name": "Counted"})
    monkeypatch.setattr("relevancy.scoring.registry.get_definitions", lambda: {"Counted": counted})
    measure = type(parse_measure("P@3"))("Counted", (), 3)
    assessment = assess(measure, Batch.from_grades([[1, 0, 1]], SCALE), 3)
    assessment.give_reasons()
    assessment.show_working()
    assert calls == [1, 1]
