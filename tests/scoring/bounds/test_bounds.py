"""Bounds compared with brute force: every way to rate the open slots."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from relevancy.scoring import Batch, Scale, parse_measure, score
from tests.scoring.ranking_scores import batch_from_grades, score_ranking

EXACT = [
    "CG@4", "DCG@3", "DCG(discount='classic')", "P@3", "P(denominator='returned')@4", "R@3", "Success@2", "RR@4",
    "ERR@4", "RBP@4", "AP", "AP@3", "Bpref", "P(rel=2)@3", "AP(rel=2)", "AP(rel=0)@3",
    *(f"nDCG(ideal='{ideal}'){k}" for ideal in ("global", "local", "recall", "max", "uncut") for k in ("@3", "")),
    "nDCG(gain='linear')@4", "nDCG(gain='linear',discount='classic',ideal='uncut')@3",
    "nDCG(gain='linear',discount='reciprocal',ideal='recall')@3",
]  # fmt: skip
SKIPPING = ["P(unrated='skip')@3", "nDCG(unrated='skip')@3", "AP(unrated='skip')@3", "RR(unrated='skip')@2"]
SCALES = ["0:1", "0:2", "0:3", "1:3"]


def score_completions(measure, grades, unretrieved, scale, depth, levels):
    """The scores of every way to rate the unrated documents in the first k."""
    k = parse_measure(measure).cutoff or depth
    unrated = [index for index, grade in enumerate(grades[:k]) if grade is None]
    filled = []
    for choice in product(levels, repeat=len(unrated)):
        row = list(grades)
        for index, grade in zip(unrated, choice, strict=True):
            row[index] = grade
        filled.append(row)
    batch = batch_from_grades(filled, Scale.parse(scale), [unretrieved] * len(filled))
    return score(parse_measure(measure), batch, depth, count_unscoreable_as_zero=True, bounds=False).score


@st.composite
def rankings(draw):
    scale = draw(st.sampled_from(SCALES))
    grade = st.sampled_from(Scale.parse(scale).grades)
    slots = draw(st.lists(st.one_of(st.none(), st.none(), grade), min_size=1, max_size=6))
    assume(slots.count(None) <= 4)
    return slots, draw(st.lists(grade, max_size=4)), scale


@settings(max_examples=150, deadline=None)
@given(rankings(), st.sampled_from(EXACT))
def test_bounds_are_the_extremes_of_all_completions(ranking, measure):
    grades, unretrieved, scale = ranking
    scores = score_ranking(measure, grades, scale, unretrieved)
    assume(not np.isnan(scores.score[0]))
    completions = score_completions(measure, grades, unretrieved, scale, len(grades), Scale.parse(scale).grades)
    assert scores.low[0] == pytest.approx(min(completions.min(), scores.score[0]), abs=1e-9)
    assert scores.high[0] == pytest.approx(max(completions.max(), scores.score[0]), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(rankings(), st.sampled_from([*EXACT, *SKIPPING, "AvgEdit@4", "AvgEdit"]))
def test_bounds_contain_every_completion_and_the_score(ranking, measure):
    grades, unretrieved, scale = ranking
    scores = score_ranking(measure, grades, scale, unretrieved)
    assume(not np.isnan(scores.score[0]))
    completions = score_completions(measure, grades, unretrieved, scale, len(grades), Scale.parse(scale).grades)
    low, high = scores.low[0] - 1e-9, scores.high[0] + 1e-9
    assert low <= scores.score[0] <= high
    assert low <= completions.min()
    assert completions.max() <= high


@settings(max_examples=60, deadline=None)
@given(rankings(), st.sampled_from(["global", "local", "recall", "uncut"]), st.sampled_from(["exp", "linear"]))
def test_ndcg_bounds_contain_completions_with_fractions(ranking, ideal, gain):
    grades, unretrieved, scale = ranking
    assume(grades.count(None) <= 3)
    measure = f"nDCG(gain='{gain}',ideal='{ideal}')@4"
    scores = score_ranking(measure, grades, scale, unretrieved)
    assume(not np.isnan(scores.score[0]))
    limits = Scale.parse(scale)
    completions = score_completions(
        measure, grades, unretrieved, scale, len(grades), np.linspace(limits.lowest, limits.top, 9).tolist()
    )
    assert scores.low[0] - 1e-9 <= completions.min()
    assert completions.max() <= scores.high[0] + 1e-9


def test_ndcg_low_can_be_below_uniform_completions():
    # A document of the top grade at the end raises the ideal DCG by more than the DCG.
    fills = [score_ranking("nDCG@3", [fill, 1, fill]).score[0] for fill in (0, 3)]
    low = score_ranking("nDCG@3", [None, 1, None]).low[0]
    assert low == pytest.approx(score_ranking("nDCG@3", [0, 1, 3]).score[0])
    assert low < min(fills) - 1


def test_ndcg_high_can_be_above_uniform_completions():
    # A medium grade raises the ratio where a top grade would raise the ideal DCG too much.
    higher = 0
    for known in product((0, 1, 2, 3), repeat=3):
        grades = [*known, None, None]
        if not any(known):
            continue
        scores = score_ranking("nDCG(ideal='local')@5", grades)
        fills = [score_ranking("nDCG(ideal='local')@5", [*known, fill, fill]).score[0] for fill in (0, 3)]
        higher += scores.high[0] > max(fills) + 1e-6
        completions = score_completions("nDCG(ideal='local')@5", grades, [], "0:3", 5, (0, 1, 2, 3))
        assert scores.high[0] == pytest.approx(completions.max())
    assert higher > 0


def test_bounds_of_many_queries_equal_those_of_each():
    generator = np.random.default_rng(3)
    grades = generator.integers(0, 4, (300, 8)).astype(object)
    grades[generator.random((300, 8)) < 0.4] = None
    unretrieved = [generator.integers(0, 4, count).tolist() for count in generator.integers(0, 90, 300)]
    scale = Scale.parse("0:3")
    for text in ("nDCG@5", "nDCG(ideal='uncut')@5", "AP", "Bpref", "R@5"):
        measure = parse_measure(text)
        together = score(measure, batch_from_grades(grades.tolist(), scale, unretrieved), 8)
        for at in range(0, 300, 7):
            alone = score(measure, batch_from_grades([grades[at].tolist()], scale, [unretrieved[at]]), 8)
            for name in ("score", "low", "high"):
                assert getattr(together, name)[at] == pytest.approx(getattr(alone, name)[0], nan_ok=True, abs=1e-9)


@pytest.mark.parametrize("measure", [*EXACT, *SKIPPING, "AvgEdit@4"])
def test_bounds_of_a_fully_rated_list_are_its_score(measure):
    scores = score_ranking(measure, [1, 3, 0, 2], unretrieved=[2, 2])
    assert scores.low[0] == scores.score[0] == scores.high[0]


def test_bounds_of_an_unscoreable_query():
    scores = score_ranking("nDCG@3", [None, None])
    assert np.isnan([scores.score[0], scores.low[0], scores.high[0]]).all()
    counted = score_ranking("nDCG@3", [None, None], count_unscoreable_as_zero=True)
    assert (counted.score[0], counted.low[0], counted.high[0]) == (0, 0, 100)


def test_bounds_are_optional():
    batch = batch_from_grades([[3, None]], Scale.parse("0:3"))
    scores = score(parse_measure("nDCG@2"), batch, 2, bounds=False)
    assert np.isnan(scores.low).all()
    assert scores.unrated.tolist() == [1]


def test_bounds_ignore_repeats():
    batch = Batch.build([["a", "b", "b", "a"]], [{"a": 3}], Scale.parse("0:3"))
    scores = score(parse_measure("CG(gain='linear')@4"), batch, 4)
    assert (scores.value[0], scores.unrated[0]) == (3, 1)
    assert (scores.low[0], scores.high[0]) == (25, 50)
