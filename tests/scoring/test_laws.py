"""Laws that hold for every ranking."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from relevancy.scoring import parse_measure
from tests.scoring.ranking_scores import score_ranking

MEASURES = [
    "CG@4", "DCG@4", "DCG(gain='linear',discount='ln')@4", "nDCG@4", "nDCG(ideal='recall')@4", "nDCG(ideal='max')@4",
    "nDCG(ideal='uncut',discount='classic')@4", "P@4", "R@4", "Success@4", "RR@4", "AP", "AP@4", "ERR@4", "RBP@4",
    "Bpref",
]  # fmt: skip
SKIPPING = ["nDCG(unrated='skip')@4", "P(unrated='skip')@4", "AP(unrated='skip')@4"]
GRADE = st.one_of(st.none(), st.integers(0, 3))
RANKING = st.lists(GRADE, min_size=1, max_size=8)
UNRETRIEVED = st.lists(st.integers(0, 3), max_size=4)


def is_equal(left: float, right: float) -> bool:
    return left == pytest.approx(right, nan_ok=True, abs=1e-9)


@settings(max_examples=200, deadline=None)
@given(
    RANKING,
    st.sampled_from([(None, 1), (0, 1), (0, 3), (1, 2), (2, 3)]),
    RANKING,
    UNRETRIEVED,
    st.sampled_from(MEASURES),
)
def test_moving_a_better_document_up_never_lowers_a_score(above, pair, below, unretrieved, measure):
    worse, better = pair
    before = score_ranking(measure, [*above[:4], worse, better, *below], unretrieved=unretrieved).score[0]
    after = score_ranking(measure, [*above[:4], better, worse, *below], unretrieved=unretrieved).score[0]
    assert is_equal(before, after) or after > before


@settings(max_examples=100, deadline=None)
@given(
    RANKING, UNRETRIEVED, st.randoms(use_true_random=False), st.sampled_from([*MEASURES[:-1], "AvgEdit@4", "Judged@4"])
)
def test_order_below_k_does_not_matter(grades, unretrieved, generator, measure):
    cutoff = parse_measure(measure).cutoff
    assume(cutoff)
    below = grades[cutoff:]
    generator.shuffle(below)
    shuffled = [*grades[:cutoff], *below]
    assert is_equal(
        score_ranking(measure, grades, unretrieved=unretrieved).score[0],
        score_ranking(measure, shuffled, unretrieved=unretrieved).score[0],
    )


@settings(max_examples=100, deadline=None)
@given(RANKING, UNRETRIEVED, st.sampled_from([*MEASURES, *SKIPPING, "nDCG(ideal='local')@4", "AvgEdit@4", "Judged@4"]))
def test_scores_lie_between_0_and_100(grades, unretrieved, measure):
    scores = score_ranking(measure, grades, unretrieved=unretrieved)
    if not np.isnan(scores.score[0]):
        assert 0 <= scores.score[0] <= 100


@settings(max_examples=100, deadline=None)
@given(RANKING, UNRETRIEVED, st.sampled_from(MEASURES))
def test_skipping_is_the_same_as_scoring_the_condensed_list(grades, unretrieved, measure):
    assume(measure != "Bpref")
    name, _, cutoff = measure.partition("@")
    parameters = name[name.index("(") + 1 : -1] + "," if "(" in name else ""
    skipping = f"{name.partition('(')[0]}({parameters}unrated='skip')" + (f"@{cutoff}" if cutoff else "")
    condensed = [grade for grade in grades if grade is not None]
    depth = len(grades)
    left = score_ranking(skipping, grades, unretrieved=unretrieved, depth=depth).value[0]
    assert is_equal(left, score_ranking(measure, condensed, unretrieved=unretrieved, depth=depth).value[0])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=8).filter(any), st.integers(1, 9))
def test_the_best_order_scores_100(grades, cutoff):
    best = sorted(grades, reverse=True)
    for ideal in ("global", "local", "recall"):
        assert score_ranking(f"nDCG(ideal='{ideal}')@{cutoff}", best).score[0] == 100
    assert score_ranking("nDCG(ideal='uncut')", best).score[0] == 100
    assert score_ranking("AP", best).score[0] == pytest.approx(100)


@settings(max_examples=60, deadline=None)
@given(RANKING, UNRETRIEVED, st.sampled_from([*MEASURES, "AvgEdit@4"]))
def test_an_unrated_document_that_keeps_its_rank_scores_like_grade_0(grades, unretrieved, measure):
    assume(measure not in ("Bpref", "AvgEdit@4"))
    zeros = [0 if grade is None else grade for grade in grades]
    left, right = (score_ranking(measure, row, unretrieved=unretrieved).score[0] for row in (grades, zeros))
    assert np.isnan(left) or is_equal(left, right)
