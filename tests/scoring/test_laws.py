"""Laws that hold for every ranking."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from relevancy.scoring import parse_measure
from tests.scoring.one_ranking import scores_of

MEASURES = [
    "CG@4", "DCG@4", "DCG(gain='linear',discount='ln')@4", "nDCG@4", "nDCG(ideal='recall')@4", "nDCG(ideal='max')@4",
    "nDCG(ideal='uncut',discount='classic')@4", "P@4", "R@4", "Success@4", "RR@4", "AP", "AP@4", "ERR@4", "RBP@4",
    "Bpref",
]  # fmt: skip
SKIPPING = ["nDCG(unrated='skip')@4", "P(unrated='skip')@4", "AP(unrated='skip')@4"]
GRADE = st.one_of(st.none(), st.integers(0, 3))
RANKING = st.lists(GRADE, min_size=1, max_size=8)
EXTRA = st.lists(st.integers(0, 3), max_size=4)


def same(left: float, right: float) -> bool:
    return left == pytest.approx(right, nan_ok=True, abs=1e-9)


@settings(max_examples=200, deadline=None)
@given(RANKING, st.sampled_from([(None, 1), (0, 1), (0, 3), (1, 2), (2, 3)]), RANKING, EXTRA, st.sampled_from(MEASURES))
def test_lifting_a_better_document_never_lowers_a_score(above, pair, below, extra, measure):
    worse, better = pair
    before = scores_of(measure, [*above[:4], worse, better, *below], extra=extra).score[0]
    after = scores_of(measure, [*above[:4], better, worse, *below], extra=extra).score[0]
    assert same(before, after) or after > before


@settings(max_examples=100, deadline=None)
@given(RANKING, EXTRA, st.randoms(use_true_random=False), st.sampled_from([*MEASURES[:-1], "AvgEdit@4", "Judged@4"]))
def test_order_below_k_changes_nothing(grades, extra, chance, measure):
    cutoff = parse_measure(measure).cutoff
    assume(cutoff)
    below = grades[cutoff:]
    chance.shuffle(below)
    shuffled = [*grades[:cutoff], *below]
    assert same(scores_of(measure, grades, extra=extra).score[0], scores_of(measure, shuffled, extra=extra).score[0])


@settings(max_examples=100, deadline=None)
@given(RANKING, EXTRA, st.sampled_from([*MEASURES, *SKIPPING, "nDCG(ideal='local')@4", "AvgEdit@4", "Judged@4"]))
def test_scores_lie_between_0_and_100(grades, extra, measure):
    scores = scores_of(measure, grades, extra=extra)
    if not np.isnan(scores.score[0]):
        assert 0 <= scores.score[0] <= 100


@settings(max_examples=100, deadline=None)
@given(RANKING, EXTRA, st.sampled_from(MEASURES))
def test_skipping_equals_scoring_the_condensed_list(grades, extra, measure):
    assume(measure != "Bpref")
    name, _, cutoff = measure.partition("@")
    inside = name[name.index("(") + 1 : -1] + "," if "(" in name else ""
    skipping = f"{name.partition('(')[0]}({inside}unrated='skip')" + (f"@{cutoff}" if cutoff else "")
    condensed = [grade for grade in grades if grade is not None]
    shown = len(grades)
    left = scores_of(skipping, grades, extra=extra, shown=shown).value[0]
    assert same(left, scores_of(measure, condensed, extra=extra, shown=shown).value[0])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=8).filter(any), st.integers(1, 9))
def test_the_best_order_scores_100(grades, cutoff):
    best = sorted(grades, reverse=True)
    for ideal in ("global", "local", "recall"):
        assert scores_of(f"nDCG(ideal='{ideal}')@{cutoff}", best).score[0] == 100
    assert scores_of("nDCG(ideal='uncut')", best).score[0] == 100
    assert scores_of("AP", best).score[0] == pytest.approx(100)


@settings(max_examples=60, deadline=None)
@given(RANKING, EXTRA, st.sampled_from([*MEASURES, "AvgEdit@4"]))
def test_an_unrated_document_scores_like_a_zero_where_it_keeps_its_slot(grades, extra, measure):
    assume(measure not in ("Bpref", "AvgEdit@4"))
    zeros = [0 if grade is None else grade for grade in grades]
    left, right = (scores_of(measure, each, extra=extra).score[0] for each in (grades, zeros))
    assert np.isnan(left) or same(left, right)
