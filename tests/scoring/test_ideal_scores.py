"""The ideal score: that of the best ranking of the known documents."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relevancy.scoring import Batch, Scale, parse_measure, score
from tests.scoring.measure_variants import SOME_MEASURES, single_query_batches
from tests.scoring.ranking_scores import batch_from_grades, score_ideal

ORDERED = ["nDCG@4", "nDCG(ideal='max')@4", "DCG@4", "CG@4", "P@4", "R@4", "AP@4", "RR@4", "ERR@4", "RBP@4"]


@settings(max_examples=150, deadline=None)
@given(SOME_MEASURES, single_query_batches(), st.integers(1, 10))
def test_the_ideal_score_is_never_below_the_score(texts, drawn, depth):
    for text in texts:
        scores = score(parse_measure(text), drawn[0], depth, ideal=True)
        observed, ideal = scores.score, scores.ideal
        assert np.array_equal(np.isnan(observed), np.isnan(ideal))
        assert np.isnan(ideal).all() or observed[0] <= ideal[0] <= 100 + 1e-9


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(ORDERED), single_query_batches(), st.permutations(range(9)))
def test_no_other_order_of_the_known_documents_is_better(text, drawn, order):
    batch, _, known = drawn
    measure = parse_measure(text)
    documents = [sorted(known)[index] for index in order if index < len(known)]
    other = score(measure, Batch.build([documents], [known], batch.scale), 4).score[0]
    best = score_ideal(measure, batch.ideal(4), 4)[0]
    assert np.isnan(other) or other <= best + 1e-9


@pytest.mark.parametrize(
    ("measure", "grades", "unretrieved", "expected"),
    [
        ("nDCG@3", [0, 1], (3,), 100),
        ("P@4", [0, 1], (3,), 50),  # two relevant documents for four slots
        ("AP@2", [0, 1], (3, 3, 3), 50),  # two slots for four relevant documents
        ("AP", [0, 1], (3, 3, 3), 100),  # all known documents, however few are displayed
        ("R", [0, 1], (3, 3, 3), 100),
        ("RR@4", [0, 1], (), 100),
        ("CG(gain='linear')@2", [0], (3, 2, 1), 100 * 5 / 6),
        ("Judged@4", [None, 1], (), 100),
        ("AvgEdit@2", [3], (0,), 100),  # its own score is better than that of all known documents
        ("nDCG@3", [None], (), np.nan),
        ("AP", [0], (), np.nan),
    ],
)
def test_score_ideal(measure, grades, unretrieved, expected):
    batch = batch_from_grades([grades], Scale.parse("0:3"), [unretrieved])
    assert score_ideal(parse_measure(measure), batch, 2)[0] == pytest.approx(expected, nan_ok=True)


def test_score_ideal_of_many_queries_equals_that_of_each():
    generator = np.random.default_rng(3)
    grades = [[int(grade) for grade in generator.integers(0, 4, size)] for size in generator.integers(0, 12, 40)]
    others = [[int(grade) for grade in generator.integers(0, 4, size)] for size in generator.integers(0, 12, 40)]
    batch = batch_from_grades(grades, Scale.parse("0:3"), others)
    for text in ("nDCG@5", "AP@5", "P@10", "AvgEdit@10", "nDCG(ideal='recall')@5", "Bpref"):
        together = score_ideal(parse_measure(text), batch, 10)
        for query in range(len(batch)):
            alone = score_ideal(parse_measure(text), batch.rows(query, query + 1), 10)[0]
            assert together[query] == pytest.approx(alone, nan_ok=True)


def test_score_ideal_of_no_query():
    assert len(score_ideal(parse_measure("AP"), batch_from_grades([], Scale.parse("0:3")), 10)) == 0


def test_batch_ideal_returns_the_best_known_documents():
    batch = batch_from_grades([[0, 3, None], []], Scale.parse("0:3"), [[2], []]).ideal(2)
    assert np.array_equal(batch.grades, [[3, 2], [np.nan, np.nan]], equal_nan=True)
    assert batch.returned.tolist() == [2, 0]
    assert batch.known.counts.tolist() == [3, 0]
    assert not batch.repeats.any()
