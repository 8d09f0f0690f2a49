"""What a score was before other ratings, and what has changed since: by worked examples with P@1 and RR@10."""

from datetime import timedelta

import pytest
from django.utils import timezone

from relevancy import books, queries, ratings, runs, scores
from relevancy.engines import EndpointUnreachable
from relevancy.models import CaseScore, ScorerVersion
from tests.factories import make_attempt, make_case, query_of, rate_all, run_now, script_of, set_rule

pytestmark = pytest.mark.django_db


@pytest.fixture
def case(script):
    return make_case(2, {"query 1": {"a": 3}, "query 2": {"x": 0}}, measures=("P@1", "RR@10"))


@pytest.fixture
def run(case):
    """P@1: 100 and 0, in the mean 50."""
    attempt = make_attempt(case)
    script_of(attempt).answers = {"query 1": ["a", "b"], "query 2": ["x", "y"]}
    return run_now(attempt)


def rescore(case):
    assert scores.rescore_history(case, seconds=60)


def shown(case, position=0):
    """The score and the former score of the only run."""
    version = list(ScorerVersion.objects.used_by(case))[position]
    (row,) = scores.recent_case_scores(case, version)
    former = scores.former_score(row.score, row.former_score, row.former_at)
    of_history = scores.read_history(case, [version]).runs[0].scores[version.pk]
    assert (of_history.score, of_history.former) == (row.score, former)
    return row.score, former


def test_a_new_score_has_no_former_one(case, run):
    assert shown(case) == (50, None)


def test_ratings_of_the_same_day_leave_the_score_that_the_run_ended_with(case, run):
    rate_all(case, {"query 2": {"x": 3}}, case.owner)
    rescore(case)
    score, former = shown(case)
    assert (score, former.score) == (100, 50)
    assert former.at >= run.finished_at
    assert scores.count_changes_since(case, [former.at]) == {former.at: scores.ChangesSince(given=1)}
    assert shown(case, 1) == (100, None)  # RR@10: of one query before, and of two now
    rate_all(case, {"query 2": {"x": 0}}, case.owner)
    rescore(case)
    assert shown(case) == (50, None)  # it is what it was


def test_a_run_that_ended_without_ratings_was_what_it_was_at_the_end_of_a_day(script):
    case = make_case(1)
    run_now(make_attempt(case))
    rate_all(case, {"query 1": {"a": 3}}, case.owner)
    rescore(case)
    assert shown(case)[0] == 100
    assert shown(case)[1] is None  # the same day: nobody has seen another score than the growing one
    evening = timezone.now()
    CaseScore.objects.update(day=timezone.localdate() - timedelta(days=1))
    rate_all(case, {"query 1": {"a": 0}}, case.owner)
    rescore(case)
    score, former = shown(case)
    assert (score, former.score) == (None, 100)  # no document is relevant any more
    assert former.at <= evening
    run, version = case.runs.get(), ScorerVersion.objects.used_by(case).get()
    assert [known.score for known in scores.known_scores(run, version)] == [100]


def test_a_new_version_of_the_scorer_has_no_former_score(case, run):
    rate_all(case, {"query 2": {"x": 3}}, case.owner)
    rescore(case)
    scorer = ScorerVersion.objects.used_by(case)[0].scorer
    case.case_scorers.filter(scorer=scorer).update(
        version=scorer.versions.create(number=2, measure="P@2", scale=[[0, ""], [3, ""]])
    )
    rescore(case)
    assert shown(case)[1] is None


def test_a_continued_run_has_other_results_and_no_former_score(case, script):
    attempt = make_attempt(case)
    script_of(attempt).answers = {"query 1": ["a"], "query 2": EndpointUnreachable("Not there.")}
    run = run_now(attempt)
    assert shown(case)[0] == 100
    CaseScore.objects.update(day=timezone.localdate() - timedelta(days=1))
    script_of(attempt).answers = {"query 1": ["a"], "query 2": ["x"]}
    runs.finish_here(runs.complete(run=run, by=case.owner))
    assert shown(case) == (50, None)


def test_a_query_that_was_searched_again_has_other_results_and_no_former_score(case, run):
    script_of(run.attempt).answers = {"query 1": ["b", "a"], "query 2": ["x", "y"]}
    runs.search_again(run=run, case_query=case.case_queries.get(query__text="query 1"), by=case.owner)
    assert shown(case) == (0, None)


def test_removed_taken_back_and_repeated_ratings(case, run, django_assert_num_queries):
    since = timezone.now()
    rate_all(case, {"query 1": {"a": 3, "b": 2}, "query 2": {"x": 2}}, case.owner)  # the first one says what it said
    middle = timezone.now()
    ratings.rate(query=query_of(case, "query 2"), doc_id="y", value=1, by=case.owner)
    ratings.undo(case=case, by=case.owner)
    ratings.remove(query=query_of(case, "query 1"), doc_ids=["b"], by=case.owner)
    with django_assert_num_queries(3):
        changes = scores.count_changes_since(case, [since, middle])
    assert changes == {
        since: scores.ChangesSince(given=2, removed=1),
        middle: scores.ChangesSince(given=0, removed=1),
    }
    listed = scores.rating_changes_since(case, since)
    assert [(change.doc_id, change.new_value) for change in listed] == [("b", None), ("x", 2), ("b", 2)]


def test_only_the_newest_changes_of_the_site_are_looked_through(case, run, monkeypatch):
    since = timezone.now()
    rate_all(case, {"query 1": {"b": 2}, "query 2": {"x": 2, "y": 1}}, case.owner)
    middle = timezone.now()
    monkeypatch.setattr("relevancy.scores.former_scores.MAX_SEARCHED", 1)
    assert scores.count_changes_since(case, [since, middle]) == {
        since: scores.ChangesSince(given=1, is_partial=True),
        middle: scores.ChangesSince(),
    }
    assert len(scores.rating_changes_since(case, since)) == 1


def test_other_changes_are_said_too(case, run):
    since = timezone.now()
    queries.edit(case_query=case.case_queries.first(), tags=["brand"], by=case.owner)
    assert not scores.count_changes_since(case, [since])[since].others
    books.change_book(book=case.book, raters_are_blind=False, by=case.owner)
    assert not scores.count_changes_since(case, [since])[since].others
    set_rule(book=case.book, rule="median", by=case.owner)
    assert scores.count_changes_since(case, [since])[since].others
    since = timezone.now()
    queries.edit(case_query=case.case_queries.first(), weight=3, by=case.owner)
    assert scores.count_changes_since(case, [since])[since] == scores.ChangesSince(others=True)
    assert scores.count_changes_since(case, []) == {}
