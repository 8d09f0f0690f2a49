"""Sums of scores, changed by one rating at a time, are the sums of all scores."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevancy import judgments, scores
from relevancy.models import CaseScore, QueryScore, RunComparison, ScorerVersion
from relevancy.scores import storage
from relevancy.scores.sums import StoredParts, Sums, changed_weights
from tests.factories import make_attempt, make_case, query_of, run_now

points = st.floats(0, 100)


@st.composite
def parts(draw):
    """A score with or without a range, none, or one that could not be computed."""
    if draw(st.booleans()):
        return StoredParts(None, None, None, draw(st.integers(0, 9)), draw(st.sampled_from(["", "stopped"])))
    low, score, high = sorted(draw(st.lists(points, min_size=3, max_size=3)))
    bounded = draw(st.booleans())
    return StoredParts(score, low if bounded else None, high if bounded else None, draw(st.integers(0, 9)), "")


def summed(scores_of_queries, weights):
    """Adds the scores to nothing, in the order of the queries."""
    sums = Sums()
    for number, weight in enumerate(weights):
        sums = sums.replacing(weight, None, scores_of_queries.get(number))
    return sums


@given(
    weights=st.lists(st.sampled_from([0.0, 1.0, 3.0, 250.0]), min_size=1, max_size=6),
    changes=st.lists(st.tuples(st.integers(0, 5), parts()), max_size=30),
)
def test_sums_do_not_depend_on_what_they_were_before(weights, changes):
    present, sums = {}, Sums()
    for number, new in changes:
        number %= len(weights)
        sums = sums.replacing(weights[number], present.get(number), new)
        present[number] = new
    assert sums == summed(present, weights)
    read = Sums.read(sums.stored(), scored=sums.scored, unrated=sums.unrated, failed=sums.failed)
    assert read == sums


@given(score=points, weight=st.sampled_from([0.0, 0.1, 1.0, 7.0]))
def test_score_of_one_query_is_the_mean(score, weight):
    sums = Sums(weights=weight).replacing(weight, None, None)
    added = Sums().replacing(1.0, None, StoredParts(score, None, None, 0, ""))
    assert sums == Sums(weights=weight)
    assert added.score == pytest.approx(score, abs=2**-56)


def test_weights_that_are_not_whole_numbers_are_summed_again_once_a_query_gets_its_first_score():
    assert changed_weights(0.3, 1.0, had_score=False, has_score=True) is None
    assert changed_weights(3.0, 0.1, had_score=True, has_score=False) is None
    assert changed_weights(0.3, 0.1, had_score=True, has_score=True) == 0.3
    assert changed_weights(3.0, 2.0, had_score=True, has_score=False) == 1.0


def test_query_that_was_removed_from_the_case_changes_nothing():
    sums = Sums(1.0, 5, 5, 5, 0, 1, 2, 0)
    assert sums.replacing(None, None, StoredParts(50.0, None, None, 3, "")) == sums


@pytest.mark.django_db
def test_rating_sums_all_scores_after_others_were_stored(script):
    """A worker that dies has stored scores of queries, and not that of the case."""
    case = make_case(3, {f"query {number}": {"a": number} for number in (1, 2, 3)})
    attempt = make_attempt(case)
    baseline, run = run_now(attempt), run_now(attempt)
    query = query_of(case, "query 1")
    ranking = baseline.rankings.get(query=query)
    judgments.rate(query=query, doc_id="b", value=1, by=case.owner, run=run, baseline=ranking)
    assert not CaseScore.objects.filter(run__case=case, sums__isnull=True).exists()
    repaired = QueryScore.objects.get(run=run, query__text="query 2")
    repaired.score = 12.5
    storage.store([repaired])
    assert CaseScore.objects.get(run=run).sums is None
    assert RunComparison.objects.get(run=run).sums is None
    assert CaseScore.objects.get(run=baseline).sums is not None
    judgments.rate(query=query, doc_id="b", value=3, by=case.owner, run=run, baseline=ranking)
    stored = QueryScore.objects.filter(run=run).values_list("score", flat=True)
    assert CaseScore.objects.get(run=run).score == pytest.approx(sum(stored) / 3)
    version = ScorerVersion.objects.used_by(case)[0]
    difference = scores.compare_runs(run, baseline, version)
    assert difference.difference
    assert RunComparison.objects.get(run=run).run_score == difference.run_score
