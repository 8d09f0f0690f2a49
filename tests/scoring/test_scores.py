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
    parse_measure,
    score,
)
from relevancy.scoring.scores import chunk
from tests.scoring.measure_variants import SOME_MEASURES, single_query_batches
from tests.scoring.ranking_scores import batch_from_grades

SCALE = Scale.parse("0:3")


def score_batch(text, batch, **options):
    return score(parse_measure(text), batch, 10, **options)


def random_batch(queries, seed=7):
    generator = np.random.default_rng(seed)
    grades = generator.integers(0, 4, (queries, 8)).astype(object)
    grades[generator.random((queries, 8)) < 0.4] = None
    rankings = [row[: generator.integers(0, 9)].tolist() for row in grades]
    others = [generator.integers(0, 4, count).tolist() for count in generator.integers(0, 9, queries)]
    return batch_from_grades(rankings, SCALE, others)


def test_score_decides_what_is_not_scoreable():
    # Per query: no rating; only grade 0 known; a relevant document known, but nothing returned, or only an unrated one.
    batch = batch_from_grades([[None], [0, None], [], [None]], SCALE, [[], [], [2], [2]])
    nan = np.nan
    for text in ("nDCG@5", "R@5", "AP", "RR@5", "Success@5", "Bpref"):
        assert score_batch(text, batch).score == pytest.approx([nan, nan, 0, 0], nan_ok=True), text
    for text in ("P@5", "CG@5", "DCG@5", "ERR@5", "RBP@5", "nDCG(ideal='max')@5"):
        assert score_batch(text, batch).score == pytest.approx([nan, 0, 0, 0], nan_ok=True), text
    assert score_batch("Judged@5", batch).score.tolist() == [0, 50, 0, 0]
    assert score_batch("AvgEdit@5", batch).score == pytest.approx([nan, 0, 0, nan], nan_ok=True)
    assert score_batch("AvgEdit@5", batch).is_scoreable.tolist() == [False, True, True, False]


def test_score_can_count_unscoreable_queries_as_zero():
    batch = batch_from_grades([[None], [3]], SCALE)
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
    scores = score_batch("nDCG@5", batch_from_grades([], SCALE))
    assert len(scores.score) == len(scores.low) == 0


@pytest.mark.parametrize("text", ["nDCG@5", "nDCG(unrated='skip')", "AP", "AvgEdit", "Bpref", "ERR", "P@3", "RR", "CG"])
def test_score_if_no_query_has_results(text):
    scores = score_batch(text, batch_from_grades([[], []], SCALE, [[3], []]))
    assert scores.score[0] == 0
    assert np.isnan(scores.score[1])


def test_score_in_chunks_equals_score_of_each():
    generator = np.random.default_rng(5)
    batch = batch_from_grades(generator.integers(0, 4, (900, 600)).tolist(), SCALE)
    assert len(chunk(batch)) > 1
    together = score(parse_measure("AP@20"), batch, 20)
    for query in (0, 450, 899):
        alone = score(parse_measure("AP@20"), batch.rows(query, query + 1), 20)
        assert alone.score[0] == together.score[query]
    assert len(together.unrated) == 900
    assert len(chunk(batch_from_grades([], SCALE))) == 1


@settings(max_examples=150, deadline=None)
@given(SOME_MEASURES, single_query_batches(), st.integers(1, 10), st.booleans())
def test_score_leaves_out_what_was_not_asked_for(texts, drawn, depth, count_unscoreable_as_zero):
    for text in texts:
        measure, as_zero = parse_measure(text), count_unscoreable_as_zero
        complete = score(measure, drawn[0], depth, count_unscoreable_as_zero=as_zero, ideal=True)
        partial = score(measure, drawn[0], depth, count_unscoreable_as_zero=as_zero, bounds=False)
        for field in fields(Scores):
            left, right = getattr(complete, field.name), getattr(partial, field.name)
            if field.name in ("low", "high", "ideal"):
                assert math.isnan(right[0])
            else:
                assert np.array_equal(left, right, equal_nan=True), (text, field.name)
        if not complete.is_scoreable[0]:
            assert np.array_equal(complete.ideal, complete.score, equal_nan=True)


@pytest.mark.parametrize("text", ["AvgEdit", "nDCG@5", "nDCG(unrated='skip')@5", "AP", "P@3", "Judged", "Bpref"])
def test_score_of_each_query_of_a_batch(text):
    batch, measure = random_batch(40), parse_measure(text)
    together = score(measure, batch, 6, ideal=True)
    for query in range(len(batch)):
        alone = score(measure, batch.rows(query, query + 1), 6, ideal=True)
        for field in fields(Scores):
            left, right = getattr(together, field.name)[query], getattr(alone, field.name)[0]
            assert left == pytest.approx(right, nan_ok=True, abs=1e-9), (query, field.name)
