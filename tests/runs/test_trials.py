"""An edited attempt tried for a few queries: what the engine returned beside what a run returned, and nothing stored."""

import pytest

from relevancy import engines, runs, scores
from relevancy.models import Attempt, QueryScore, Ranking, Run, ScorerVersion
from relevancy.runs import trials
from tests.factories import make_attempt, make_case, make_user, rate_all, run_now, script_of

pytestmark = pytest.mark.django_db
RATINGS = {"query 1": {"a": 3, "c": 1}, "query 2": {"a": 1}}


@pytest.fixture
def case(script):
    """Three queries, run once: each returned a, b and c."""
    case = make_case(3, RATINGS)
    run_now(make_attempt(case))
    return case


def try_draft(case, *texts, by=None, run=None, **changes):
    """What `try_attempt` returns for an unsaved copy of the case's attempt."""
    stored = case.attempts.select_related("endpoint", "case__book").get()
    content = {
        "endpoint": stored.endpoint,
        "template": stored.template,
        "fields": stored.fields,
        "depth": 10,
        **changes,
    }
    queries = case.case_queries.present().select_related("query").order_by("position")
    return runs.try_attempt(
        attempt=Attempt(case=case, number=0, **content),
        case_queries=[row for row in queries if row.query.text in texts],
        run=run or case.runs.select_related("attempt").get(),
        version=ScorerVersion.objects.used_by(case)[0],
        by=by or case.owner,
    )


def test_try_attempt_marks_what_moved_came_and_went(case):
    script_of(case.attempts.get()).answers["query 1"] = ("c", "a", "x")
    (trial,) = try_draft(case, "query 1")
    assert [(result.doc_id, result.moved, result.new, result.grade) for result in trial.results] == [
        ("c", 2, False, 1),
        ("a", -1, False, 3),
        ("x", None, True, None),
    ]
    assert [result.doc_id for result in trial.stored] == ["a", "b", "c"]
    assert (trial.unrated, trial.error) == (1, "")


def test_try_attempt_scores_both_with_the_present_ratings(case):
    """The stored score is older than the newest ratings; both sides are computed from these."""
    rate_all(case, {"query 1": {"b": 2}}, case.owner)
    script_of(case.attempts.get()).answers["query 1"] = ("c", "b", "a")
    (trial,) = try_draft(case, "query 1")
    run = case.runs.get()
    scores.rescore_run(run)
    assert trial.stored_score == QueryScore.objects.get(run=run, query=trial.case_query.query_id).score
    again = run_now(case.attempts.select_related("endpoint", "case").get())
    assert trial.score == QueryScore.objects.get(run=again, query=trial.case_query.query_id).score
    assert trial.difference == trial.score - trial.stored_score < 0


def test_try_attempt_without_a_change_has_no_difference(case):
    first, second, third = try_draft(case, "query 1", "query 2", "query 3")
    assert (first.difference, second.difference) == (0, 0)
    assert (third.score, third.difference) == (None, None)
    assert not any(result.moved or result.new for trial in (first, second, third) for result in trial.results)


def test_try_attempt_stores_nothing(case):
    counts = [model.objects.count() for model in (Attempt, Run, Ranking, QueryScore)]
    try_draft(case, "query 1", "query 2")
    assert [model.objects.count() for model in (Attempt, Run, Ranking, QueryScore)] == counts


def test_try_attempt_searches_three_queries_at_most(case, monkeypatch):
    monkeypatch.setattr(trials, "MAX_TRIED_QUERIES", 2)
    requests = script_of(case.attempts.get()).requests
    requests.clear()
    assert len(try_draft(case, "query 1", "query 2", "query 3")) == len(requests) == 2


def test_try_attempt_fetches_as_many_hits_as_a_run(case):
    script = script_of(case.attempts.get())
    try_draft(case, "query 1", depth=2)
    run = case.runs.get()
    assert script.requests[-1].rows == max(2, runs.depth_of(case, 2))
    assert run.rows == runs.depth_of(case, 10)


def test_try_attempt_that_fails_for_one_query_keeps_the_other(case):
    script_of(case.attempts.get()).answers["query 1"] = engines.BadQuery("No such field: titel.")
    failed, searched = try_draft(case, "query 1", "query 2")
    assert "titel" in failed.error
    assert (failed.results, failed.score, failed.difference) == ([], None, None)
    assert [result.doc_id for result in searched.results] == ["a", "b", "c"]


def test_try_attempt_stops_after_the_time_limit(case, monkeypatch):
    monkeypatch.setattr(trials, "TRIAL_SECONDS", -1.0)
    (trial,) = try_draft(case, "query 1")
    assert "did not respond" in trial.error


def test_try_attempt_needs_the_right_to_use_the_endpoint(case):
    searches_before = len(script_of(case.attempts.get()).requests)
    with pytest.raises(runs.RunNotAllowed):
        try_draft(case, "query 1", by=make_user("Stranger"))
    assert len(script_of(case.attempts.get()).requests) == searches_before


def test_try_attempt_refuses_a_template_that_cannot_be_read(case):
    with pytest.raises(engines.TemplateError):
        try_draft(case, "query 1", template="{")


def test_try_attempt_without_a_run(script):
    case = make_case(1, {"query 1": {"a": 3}})
    attempt = make_attempt(case)
    (trial,) = runs.try_attempt(
        attempt=attempt,
        case_queries=list(case.case_queries.select_related("query")),
        run=None,
        version=ScorerVersion.objects.used_by(case)[0],
        by=case.owner,
    )
    assert (trial.stored, trial.stored_score, trial.difference) == ([], None, None)
    assert trial.score is not None
    assert not any(result.new for result in trial.results)
