"""The ideal: what the known documents would score in the best order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relevancy.scoring import Batch, Scale, ideal_scores, parse_measure, score
from relevancy.scoring.gap import chunks
from tests.scoring.every_measure import SOME, batches


def ideal(measure, grades, extra=(), scale="0:3", shown=10):
    return float(
        ideal_scores(parse_measure(measure), Batch.from_grades([grades], Scale.parse(scale), [extra]), shown)[0]
    )


@settings(max_examples=150, deadline=None)
@given(SOME, batches(), st.integers(1, 10))
def test_the_gap_is_never_negative_and_known_where_the_score_is(texts, drawn, shown):
    for text in texts:
        measure = parse_measure(text)
        observed, best = score(measure, drawn[0], shown).score, ideal_scores(measure, drawn[0], shown)
        assert np.array_equal(np.isnan(observed), np.isnan(best))
        assert np.isnan(best).all() or observed[0] <= best[0] <= 100 + 1e-9


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["nDCG@4", "nDCG(ideal='max')@4", "DCG@4", "CG@4", "P@4", "R@4", "AP@4", "RR@4", "ERR@4", "RBP@4"]),
    batches(),
    st.permutations(range(9)),
)
def test_no_other_order_of_the_known_documents_is_better(text, drawn, order):
    batch, _, known = drawn
    measure = parse_measure(text)
    documents = [sorted(known)[at] for at in order if at < len(known)]
    other = Batch.build([documents], [known], batch.scale)
    found = score(measure, other, 4).score[0]
    alone = ideal_scores(measure, batch.ideal(4), 4)[0]
    assert np.isnan(found) or found <= alone + 1e-9


@pytest.mark.parametrize(
    ("measure", "grades", "extra", "expected"),
    [
        ("nDCG@3", [0, 1], (3,), 100),
        ("P@4", [0, 1], (3,), 50),  # two relevant documents for four slots
        ("AP@2", [0, 1], (3, 3, 3), 50),  # two slots for four relevant documents
        ("AP", [0, 1], (3, 3, 3), 100),  # all known documents, however few are shown
        ("R", [0, 1], (3, 3, 3), 100),
        ("RR@4", [0, 1], (), 100),
        ("CG(gain='linear')@2", [0], (3, 2, 1), 100 * 5 / 6),
        ("Judged@4", [None, 1], (), 100),
        ("AvgEdit@2", [3], (0,), 100),  # its own score is better than that of all that is known
        ("nDCG@3", [None], (), np.nan),
        ("AP", [0], (), np.nan),
    ],
)
def test_ideal_scores_by_hand(measure, grades, extra, expected):
    assert ideal(measure, grades, extra, shown=2) == pytest.approx(expected, nan_ok=True)


def test_ideal_scores_of_many_queries_are_those_of_each():
    chance = np.random.default_rng(3)
    grades = [[int(grade) for grade in chance.integers(0, 4, size)] for size in chance.integers(0, 12, 40)]
    extra = [[int(grade) for grade in chance.integers(0, 4, size)] for size in chance.integers(0, 12, 40)]
    batch = Batch.from_grades(grades, Scale.parse("0:3"), extra)
    for text in ("nDCG@5", "AP@5", "P@10", "AvgEdit@10", "nDCG(ideal='recall')@5", "Bpref"):
        together = ideal_scores(parse_measure(text), batch, 10)
        for at in range(len(batch)):
            alone = ideal_scores(parse_measure(text), batch.rows(at, at + 1), 10)[0]
            assert together[at] == pytest.approx(alone, nan_ok=True)


def test_ideal_scores_of_no_query():
    assert len(ideal_scores(parse_measure("AP"), Batch.from_grades([], Scale.parse("0:3")), 10)) == 0
    assert len(chunks(Batch.from_grades([], Scale.parse("0:3")))) == 1


def test_batch_best_keeps_every_grade():
    batch = Batch.from_grades([[0, 3, None], [1]], Scale.parse("0:3"), [[2], []])
    assert np.array_equal(batch.best(), [[3, 2, 0], [1, np.nan, np.nan]], equal_nan=True)
    assert np.array_equal(batch.best(1), [[3], [1]])


def test_batch_ideal_returns_the_best_known_documents():
    batch = Batch.from_grades([[0, 3, None], []], Scale.parse("0:3"), [[2], []]).ideal(2)
    assert np.array_equal(batch.grades, [[3, 2], [np.nan, np.nan]], equal_nan=True)
    assert batch.returned.tolist() == [2, 0]
    assert batch.known.counts.tolist() == [3, 0]
    assert not batch.repeats.any()
