"""Studies from the start to the attempt that is made of them."""

from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.core.exceptions import ValidationError
from django.db import InterfaceError, OperationalError
from django.http import QueryDict
from django.utils import timezone

from relevancy import books, comparison, engines, queries, ratings, runs, tasks
from relevancy.comparison.attempts_tried import count_attempts_tried
from relevancy.models import Activity, Attempt, CaseQuery, Query, RunPart, ScorerVersion
from relevancy.optional.studies import findings, searching, studies
from relevancy.optional.studies import tasks as study_tasks
from relevancy.optional.studies.models import Study, StudyAnswer, StudyAttempt, StudyTrial
from relevancy.optional.studies.space import parse_knob
from relevancy.optional.studies.study_page import StudyPage
from tests.factories import make_attempt, make_case, make_scorer, make_user, query_of, rate_all, run_now, script_of

from .conftest import BEST, QUERIES, TEXTS, finish, make_study, make_text_attempt, search, settings

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


def trials_of(study: Study) -> list[tuple[Any, ...]]:
    rows = study.trials.order_by("number")
    return [(row.number, row.settings, row.origin, row.fold_left_out, row.stopped, row.columns) for row in rows]


def test_a_study_finds_better_knobs_and_says_what_they_gain(attempt: Attempt) -> None:
    study = finish(make_study(attempt))
    found = findings.update_findings(study)
    assert (study.status, found["trials"], found["queries"]) == (Study.Status.COMPLETE, 30, QUERIES)
    assert found["is_improvement"]
    assert 0 < found["low"] < found["gain"] < found["high"]
    assert found["gain"] + found["luck"] == pytest.approx(found["seen"])
    assert found["sentence"].startswith(f"Better than attempt {attempt.number}: +")
    best = study.trials.get(number=found["winner"]).settings
    assert abs(np.log10(best["boost"] / BEST["boost"])) < 0.4
    assert abs(best["tie"] - BEST["tie"]) < 0.25
    assert found["proposed"] == found["choice"]
    assert 0 not in found["plateau"]
    assert Activity.objects.filter(case=attempt.case, verb=studies.FINISHED).count() == 1


def test_the_scores_of_trials_are_those_of_runs(attempt: Attempt) -> None:
    study = finish(make_study(attempt))
    found = findings.update_findings(study)
    adopted = studies.adopt(study=study, trial=study.trials.get(number=found["choice"]), by=attempt.case.owner)
    before, after = run_now(attempt), run_now(adopted)
    compared = comparison.compare(runs=[before, after], version=study.version).pairs[0]
    assert compared.difference == pytest.approx(found["seen"])
    assert found["parent_score"] == pytest.approx(before.case_scores.get(version=study.version).score)


def test_the_same_seed_leads_to_the_same_trials_however_often_work_is_interrupted(attempt: Attempt) -> None:
    first = finish(make_study(attempt))
    again = finish(make_study(attempt), seconds=0.01)
    other = finish(make_study(attempt, seed=5))
    assert trials_of(first) == trials_of(again)
    assert trials_of(first) != trials_of(other)
    assert findings.update_findings(first)["gain"] == findings.update_findings(again)["gain"]
    assert first.requests == again.requests


def test_a_worker_that_dies_loses_nothing_that_was_answered(attempt: Attempt) -> None:
    script = script_of(attempt)
    whole = finish(make_study(attempt))
    study = make_study(attempt)
    count = 0

    def die(request: engines.Request) -> None:
        nonlocal count
        count += 1
        if count == 100:
            raise KeyboardInterrupt

    script.before = die
    with pytest.raises(KeyboardInterrupt):
        studies.continue_study(study.pk)
    answered = StudyAnswer.objects.filter(study=study).count()
    assert answered >= 90  # the block in progress is lost
    script.before = lambda request: None
    study = finish(study)
    assert trials_of(study) == trials_of(whole)
    assert StudyAnswer.objects.filter(study=study).count() == StudyAnswer.objects.filter(study=whole).count()


def test_equal_requests_are_sent_once(attempt: Attempt) -> None:
    study = finish(make_study(attempt, knobs=[parse_knob("boost=0.5,1,2"), parse_knob("tie=0.2,0.7")], trials=50))
    sent = [(request.query, *sorted(request.knobs.items())) for request in script_of(attempt).requests]
    assert len(sent) == len(set(sent)) == study.requests
    assert study.trials.count() == 7
    assert study.trials.get(number=1).settings == {"boost": 0.5, "tie": 0.2}  # the parent again, which costs nothing


def test_what_a_worker_reads_does_not_grow_with_what_was_answered(
    attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = finish(make_study(attempt, trials=10))
    parent = study.trials.get(number=0)
    sent, read = study.requests, []
    keep = searching.StudyWork._keep

    def note(self: searching.StudyWork, answered: Any) -> None:
        read.extend(answer.pk for answer, _ in answered)
        keep(self, answered)

    monkeypatch.setattr(searching.StudyWork, "_keep", note)
    StudyTrial.objects.filter(study=study).exclude(number=0).delete()
    Study.objects.filter(pk=study.pk).update(trials_wanted=2, status=Study.Status.WAITING)
    study = finish(study)
    again = study.trials.get(number=1)
    assert study.requests == sent  # its answers were there
    assert sorted(read) == sorted(set(again.answer_ids.tolist()))
    assert not set(read) & set(parent.answer_ids.tolist())


def test_findings_are_computed_after_a_fifth_more_trials(attempt: Attempt, monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []

    def note(study: Study, scorer: Any, trials: list[StudyTrial]) -> None:
        counts.append(len(trials))
        study.findings = {"trials": len(trials)}

    monkeypatch.setattr(searching, "FINDINGS_SECONDS", -1.0)
    monkeypatch.setattr(searching, "store_findings", note)
    finish(make_study(attempt))
    assert counts == [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 27]


def test_trials_that_cannot_win_are_given_up_without_changing_the_result(
    attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    raced = finish(make_study(attempt))
    monkeypatch.setattr("relevancy.optional.studies.choice.Evidence.can_still_win", lambda *args: True)
    whole = finish(make_study(attempt))
    assert raced.trials.filter(stopped=True).exists()
    assert not whole.trials.filter(stopped=True).exists()
    assert raced.requests < whole.requests
    names = ("gain", "low", "high", "seen", "choice", "winner", "seen_curve", "cross_fitted_curve")
    first, second = (findings.update_findings(study) for study in (raced, whole))
    assert [first[name] for name in names] == [second[name] for name in names]


def test_ratings_made_later_change_the_findings_without_the_engine(attempt: Attempt) -> None:
    study = finish(make_study(attempt))
    before = findings.update_findings(study)
    sent = len(script_of(attempt).requests)
    case = attempt.case
    rate_all(case, {f"query {number}": {"good": 0, "other-3": 3} for number in range(1, 16)}, case.owner)
    assert study_tasks.enqueue_if_outdated(study)
    after = findings.update_findings(finish(study))
    assert len(script_of(attempt).requests) == sent
    assert after["seen"] != before["seen"]
    assert not study_tasks.enqueue_if_outdated(finish(study))
    trial = study.trials.get(number=after["choice"])
    run = run_now(studies.adopt(study=study, trial=trial, by=case.owner))
    baseline = run_now(attempt)
    compared = comparison.compare(runs=[baseline, run], version=study.version).pairs[0]
    assert compared.difference == pytest.approx(after["seen"])


def test_trials_that_could_win_with_new_ratings_are_searched_for_their_other_queries(attempt: Attempt) -> None:
    study = finish(make_study(attempt))
    given_up = list(study.trials.filter(stopped=True).values_list("number", flat=True))
    assert findings.update_findings(study)["could_return"] == 0
    case = attempt.case
    wrong = {f"query {number}": {"good": 0, **{f"other-{rank}": 3 for rank in range(5, 9)}} for number in range(1, 31)}
    rate_all(case, wrong, case.owner)
    study = finish(study)
    could_return = findings.update_findings(study)["could_return"]
    assert 0 < could_return <= len(given_up)
    before = trials_of(study)
    studies.go_on(study=study, by=case.owner)
    study = finish(study)
    assert (study.status, study.trials.count()) == (Study.Status.COMPLETE, 30)
    found = findings.update_findings(study)
    assert found["could_return"] == 0
    assert found["complete"] > sum(not row[4] for row in before)
    assert [row[:4] for row in trials_of(study)] == [row[:4] for row in before]
    for trial in study.trials.filter(stopped=False):
        assert np.isfinite(trial.values[0]).all()


def test_no_improvement_is_claimed_where_knobs_change_nothing_true(attempt: Attempt) -> None:
    script_of(attempt).default = lambda request: search(
        engines.Request(**{**vars(request), "knobs": {"boost": 1.0, "tie": 0.5}})
    )
    study = finish(make_study(attempt))
    found = findings.update_findings(study)
    assert not found["is_improvement"]
    assert found["proposed"] == 0
    assert found["sentence"].startswith("No improvement shown")


def test_settings_that_fail_are_counted_and_the_first_error_is_told(attempt: Attempt) -> None:
    def refuse(request: engines.Request) -> None:
        if request.knobs["boost"] != 0.5:
            raise engines.BadQuery("“boost” must be 0.5.")

    script_of(attempt).before = refuse
    boost = parse_knob("boost=1:10:log")
    found = findings.update_findings(finish(make_study(attempt, knobs=[boost], trials=5)))
    assert (found["failed"], found["complete"]) == (4, 1)
    assert found["sentence"] == f"None of 4 settings can be compared with attempt {attempt.number}."
    (warning,) = found["warnings"]
    assert warning.startswith("4 of 4 settings failed. Trial 1: “query ") and "must be 0.5" in warning


def test_settings_that_lack_a_rating_are_not_among_those_that_do_not_stand_out() -> None:
    """The best setting returns only an unrated document for a query, which has no score then."""
    ratings = {f"query {number}": {"good": 3, "other-0": 0} for number in range(1, QUERIES + 1)}
    case = make_case(QUERIES, ratings, measures=("AvgEdit",))
    attempt = make_text_attempt(case)

    def search_without_rated(request: engines.Request) -> list[str]:
        if request.knobs["mm"] == "100%":
            return ["unknown"] if request.query == "query 7" else ["good"]
        return ["other-0", "good"]

    script_of(attempt).default = search_without_rated
    study = finish(make_study(attempt, knobs=[parse_knob(TEXTS)]))
    found = findings.update_findings(study)
    best = found["unscored"][0]
    assert study.trials.get(number=best).settings["mm"] == "100%"
    assert (found["winner"], found["is_improvement"]) == (0, False)
    settings = found["trials"] - 1 - len(found["unscored"])
    assert (
        found["sentence"]
        == f"No improvement shown: none of {settings} settings stands out from attempt {attempt.number}."
    )
    assert f"The best of them, trial {best}, gains +" in found["warnings"][0]
    query = query_of(case, "query 7")
    assert found["to_score"] == [{"query_id": query.pk, "query": "query 7", "doc_id": "unknown"}]
    page = StudyPage(case, study, case.owner, QueryDict())
    rows = {row["trial"].number: row["state"] for row in page.trials}
    assert rows[best] == "not scored" and list(rows)[-1] == best

    rate_all(case, {"query 7": {"unknown": 0}}, case.owner)
    found = findings.update_findings(finish(study))
    assert (found["unscored"], found["warnings"], found["winner"]) == ([], [], best)


@pytest.mark.parametrize(
    ("seen", "gain", "ending"),
    [
        (4.4, 1.8, "+4.4 on those that did: 2.6 of it is luck."),
        (0.4, -0.6, "+0.4 on those that did: all of it is luck."),
        (1.0, 1.0, "+1.0 on those that did: none of it is luck."),
    ],
)
def test_the_sentence_says_what_is_luck(seen: float, gain: float, ending: str) -> None:
    found = {
        "complete": 9,
        "choice": 3,
        "trials": 9,
        "failed": 0,
        "unscored": [],
        "gain": gain,
        "low": -1.0,
        "high": 4.0,
        "seen": seen,
        "luck": seen - gain,
    }
    study = Study(parent=Attempt(number=2))
    assert findings.describe({**found, "is_improvement": False}, study).endswith(ending)


def test_plans(attempt: Attempt) -> None:
    case = attempt.case
    query_of(case, "query 1")
    version = ScorerVersion.objects.used_by(case)[0]
    plan = studies.plan_study(case=case, parent=attempt, version=version, settings=settings(trials=100))
    assert (plan.queries, plan.unscored, plan.requests) == (QUERIES, 2, 100 * QUERIES)
    assert plan.detectable == pytest.approx(10.6, abs=0.1)  # (t.975,29 + t.8,29) · 20 / √30
    assert script_of(attempt).requests == []
    assert "if a search takes 50 ms, which no run has measured yet" in studies.describe_plan(plan)[0]
    run_now(attempt)
    plan = studies.plan_study(case=case, parent=attempt, version=version, settings=settings(trials=100))
    assert "at the rate of the last run" in studies.describe_plan(plan)[0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"knobs": []}, "at least one knob"),
        ({"knobs": [parse_knob("speed=0:1")]}, "no knob speed"),
        ({"trials": 1}, "2 to 2,000 trials"),
        ({"guards": [{"tag": "gone", "max_fall": 1}]}, "tag “gone”"),
        ({"guards": [{"tag": "", "max_fall": -1}]}, "not -1"),
        ({"name": "n" * 121}, "120"),
    ],
)
def test_what_cannot_be_searched_is_refused(attempt: Attempt, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        make_study(attempt, **changes)
    assert not Study.objects.exists()


def test_too_few_scored_queries_are_refused(attempt: Attempt) -> None:
    case = attempt.case
    for number in range(12, QUERIES + 1):
        ratings.remove(query=query_of(case, f"query {number}"), doc_ids=["good", "other-0"], by=case.owner)
    with pytest.raises(ValidationError, match=r"11 queries .* needs 20"):
        make_study(attempt)


def test_linked_queries_count_once(attempt: Attempt) -> None:
    linked = attempt.case.case_queries.select_related("query__book").order_by("position")[:15]
    queries.links.link(queries=[case_query.query for case_query in linked])
    with pytest.raises(ValidationError, match="16 independent"):
        make_study(attempt)


def test_scripts_and_knobs_that_change_no_request_are_refused(attempt: Attempt) -> None:
    script = make_scorer("", "Script", script="docScore = 1")
    with pytest.raises(ValidationError, match="is a script"):
        studies.plan_study(case=attempt.case, parent=attempt, version=script.versions.get(), settings=settings())
    unused = make_attempt(attempt.case, attempt.endpoint, template='{"query": "#$query##", "x": [##boost##, ##tie##]}')
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.factories.ScriptedEngine.render", lambda self, request: {"query": request.query})
        with pytest.raises(ValidationError, match="Knobs boost, tie change no request"):
            make_study(unused)


def test_an_engine_that_is_down_fails_the_study_which_can_go_on(attempt: Attempt) -> None:
    script = script_of(attempt)
    script.default = engines.EndpointUnreachable("The engine is down.")
    study = finish(make_study(attempt))
    assert study.status == Study.Status.FAILED
    assert "The engine is down." in study.reason
    script.default = search
    studies.go_on(study=study, by=attempt.case.owner)
    assert finish(study).status == Study.Status.COMPLETE


def test_an_unexpected_error_fails_the_study_which_can_go_on(
    attempt: Attempt, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    whole = finish(make_study(attempt))
    study = make_study(attempt)
    build, calls = searching.build_evidence, 0

    def fail_once(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise ZeroDivisionError
        return build(*args)

    monkeypatch.setattr(searching, "build_evidence", fail_once)
    study = finish(study)
    assert (study.status, study.claimed_by, study.trials.count()) == (Study.Status.FAILED, "", 4)
    assert "unexpected error (ZeroDivisionError)" in study.reason
    assert "trials are kept" in study.reason
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [ZeroDivisionError]
    assert Activity.objects.filter(case=attempt.case, verb=studies.FAILED).count() == 1
    tasks.sweep()
    assert not study.trials.filter(number__gt=3).exists()  # it is not tried again by itself
    studies.go_on(study=study, by=attempt.case.owner)
    study = finish(study)
    assert (study.status, study.reason) == (Study.Status.COMPLETE, "")
    assert trials_of(study) == trials_of(whole)


def test_errors_of_the_database_are_tried_again_three_times(attempt: Attempt, monkeypatch: pytest.MonkeyPatch) -> None:
    study = make_study(attempt)
    with monkeypatch.context() as patch:
        patch.setattr(searching, "read_case_queries", lambda *args: _raise(OperationalError("database is locked")))
        for _ in range(2):
            with pytest.raises(OperationalError):
                studies.continue_study(study.pk)
            studies.release_dead()
            assert studies.waiting_studies() == [study.pk]
    studies.continue_study(study.pk, seconds=0.01)
    study.refresh_from_db()
    assert (study.status, study.worker_restarts) == (Study.Status.RUNNING, 0)
    monkeypatch.setattr(
        searching, "read_case_queries", lambda *args: _raise(InterfaceError("connection already closed"))
    )
    for _ in range(runs.MAX_WORKER_RESTARTS):
        with pytest.raises(InterfaceError):
            studies.continue_study(study.pk)
    studies.release_dead()
    study.refresh_from_db()
    assert (study.status, study.claimed_by) == (Study.Status.FAILED, "")
    assert "3 workers in a row stopped unexpectedly" in study.reason
    studies.go_on(study=study, by=attempt.case.owner)
    study.refresh_from_db()
    assert study.worker_restarts == 0


def test_a_study_at_which_three_workers_die_fails(attempt: Attempt) -> None:
    study = make_study(attempt)
    for died in range(1, runs.MAX_WORKER_RESTARTS + 1):
        long_ago = timezone.now() - timedelta(minutes=2)
        Study.objects.filter(pk=study.pk).update(claimed_by="worker", slots=1, heartbeat_at=long_ago, status="running")
        studies.release_dead()
        study.refresh_from_db()
        assert (study.claimed_by, study.slots, study.worker_restarts) == ("", 0, died)
    assert study.status == Study.Status.FAILED
    assert studies.waiting_studies() == []


def test_a_query_that_the_engine_refuses_is_left_out_and_a_setting_that_it_refuses_fails(attempt: Attempt) -> None:
    script = script_of(attempt)
    refused = engines.BadQuery("It does not like this.")
    script.answers["query 3"] = refused
    script.default = lambda request: search(request) if request.knobs["tie"] < 0.5 else _raise(refused)
    study = finish(make_study(attempt))
    found = findings.update_findings(study)
    assert found["queries"] == QUERIES - 1
    assert found["failed"] > 0
    assert study.trials.exclude(error="").exclude(number=0).first().error.endswith("It does not like this.")
    assert all(study.trials.get(number=trial).settings["tie"] < 0.5 for trial in found["plateau"])


def _raise(error: Exception) -> list[str]:
    raise error


def test_a_study_is_stopped_gone_on_with_and_deleted(attempt: Attempt) -> None:
    owner = attempt.case.owner
    study = make_study(attempt)
    with pytest.raises(ValidationError, match="Stop it first"):
        studies.delete(study=study, by=owner)
    while study.trials.count() < 3:
        studies.continue_study(study.pk, seconds=0.01)
    studies.stop(study=study, by=owner)
    study = finish(study)
    assert study.status == Study.Status.STOPPED
    assert 0 < study.trials.count() < 30
    studies.go_on(study=study, by=owner, more_trials=10)
    study = finish(study)
    assert (study.status, study.trials.count()) == (Study.Status.COMPLETE, 40)
    studies.delete(study=study, by=owner)
    assert not StudyAnswer.objects.exists()
    assert not StudyTrial.objects.exists()


def test_budgets_of_requests_end_a_study(attempt: Attempt) -> None:
    study = finish(make_study(attempt, max_requests=200))
    assert study.status == Study.Status.COMPLETE
    assert study.reason == "The budget of 200 requests is used."
    assert 200 <= study.requests < 200 + 2 * QUERIES


def test_numbers_of_deleted_studies_are_not_given_again(attempt: Attempt) -> None:
    first, second = make_study(attempt), finish(make_study(attempt))
    assert (first.number, second.number) == (1, 2)
    studies.delete(study=second, by=attempt.case.owner)
    assert make_study(attempt).number == 3
    Activity.objects.filter(case=attempt.case).delete()
    assert make_study(attempt).number == 4
    other = make_attempt(
        make_case(2, {"query 1": {"a": 1}}), knobs={"boost": 1.0, "tie": 0.2}, template=attempt.template
    )
    assert studies._next_number(other.case) == 1


def test_only_more_trials_go_beyond_a_used_budget(attempt: Attempt) -> None:
    owner = attempt.case.owner
    study = finish(make_study(attempt, max_requests=200))
    made = study.trials.count()
    assert 1 < made < 30
    with pytest.raises(ValidationError, match=r"The budget of 200 requests is used\. Say how many more trials"):
        studies.go_on(study=study, by=owner)
    studies.go_on(study=study, by=owner, more_trials=5)
    study = finish(study)
    assert (study.status, study.reason, study.trials.count()) == (Study.Status.COMPLETE, "", made + 5)
    study.trials.update(stopped=False)
    with pytest.raises(ValidationError, match=f"has made all of its {made + 5} trials"):
        studies.go_on(study=study, by=owner)


def test_more_trials_of_a_grid_are_all_that_are_left(attempt: Attempt) -> None:
    owner = attempt.case.owner
    knobs = [parse_knob("boost=0.5,1,4"), parse_knob("tie=0,0.5,1")]
    study = finish(make_study(attempt, knobs=knobs, max_requests=2 * QUERIES))
    assert 1 < study.trials.count() < 10
    studies.go_on(study=study, by=owner, more_trials=2)
    study = finish(study)
    assert (study.status, study.trials.count()) == (Study.Status.COMPLETE, 10)
    with pytest.raises(ValidationError, match="All settings of this study have been tried"):
        studies.go_on(study=study, by=owner, more_trials=2)


def test_guards_keep_a_tag(attempt: Attempt) -> None:
    texts = [f"query {number}" for number in range(1, 6)]
    Query.objects.filter(text__in=texts).update(tags=["brand"])
    script = script_of(attempt)
    for text in texts:  # what is good for the others is bad for these
        script.answers[text] = lambda request: ["good"] if request.knobs["boost"] <= 0.5 else ["other-0", "good"]
    free = findings.update_findings(finish(make_study(attempt)))
    guarded_study = finish(make_study(attempt, guards=[{"tag": "brand", "max_fall": 1.0}]))
    guarded = findings.update_findings(guarded_study)
    (row,) = free["tags"]
    assert (row["tag"], row["queries"], row["seen"]) == ("brand", 5, -50)
    assert guarded_study.trials.get(number=guarded["winner"]).settings["boost"] <= 0.5


def test_tags_that_lose_are_named_with_the_differences_of_queries_that_did_not_choose(attempt: Attempt) -> None:
    texts = [f"query {number}" for number in range(1, 9)]
    Query.objects.filter(text__in=texts).update(tags=["brand", "all"])
    Query.objects.exclude(text__in=texts).update(tags=["all"])
    script = script_of(attempt)
    for text in texts:  # what is good for the others is bad for these
        script.answers[text] = lambda request: ["good"] if request.knobs["boost"] <= 0.5 else ["other-0", "good"]
    study = finish(make_study(attempt))
    found = findings.update_findings(study)
    by_tag = {row["tag"]: row for row in found["tags"]}
    assert by_tag["all"]["difference"] == pytest.approx(found["gain"])
    assert (by_tag["all"]["interval"]["low"], by_tag["all"]["interval"]["high"]) == (found["low"], found["high"])
    assert by_tag["brand"]["queries"] == 8
    assert by_tag["brand"]["interval"]["high"] < 0
    assert by_tag["brand"]["p"] < by_tag["brand"]["p_holm"] < 0.05
    assert "“brand” lose" in found["tag_sentence"]
    scores = np.array([trial.values[0] for trial in study.trials.order_by("number")])
    of_best = scores[found["proposed"]] - scores[0]
    assert by_tag["brand"]["seen"] == pytest.approx(of_best[:8].mean())


def test_requests_of_an_endpoint_are_shared_with_runs(attempt: Attempt) -> None:
    endpoint = attempt.endpoint
    endpoint.parallel = 1
    endpoint.save()
    study = make_study(attempt)
    run = runs.start(attempt=attempt, by=attempt.case.owner)
    RunPart.objects.filter(run=run).update(claimed_by="worker", slots=1, heartbeat_at=timezone.now())
    assert not studies.continue_study(study.pk)
    assert not study.trials.exists()
    RunPart.objects.filter(run=run).update(claimed_by="", slots=0)
    Study.objects.filter(pk=study.pk).update(claimed_by="other", slots=1, heartbeat_at=timezone.now())
    assert studies.held_requests(endpoint) == {f"study {study.pk}": 1}
    runs.continue_run(run.pk)
    run.refresh_from_db()
    assert run.done == 0
    Study.objects.filter(pk=study.pk).update(heartbeat_at=timezone.now() - timedelta(minutes=2))
    runs.continue_run(run.pk)
    run.refresh_from_db()
    assert run.done == QUERIES + 2
    assert studies.waiting_studies() == [study.pk]


def test_a_worker_whose_lease_was_taken_stores_nothing_more(attempt: Attempt) -> None:
    study = make_study(attempt)
    script = script_of(attempt)

    def take_over(request: engines.Request) -> None:
        if len(script.requests) == 40:
            Study.objects.filter(pk=study.pk).update(claimed_by="another")

    script.before = take_over
    assert not studies.continue_study(study.pk)
    study.refresh_from_db()
    assert (study.claimed_by, study.is_active) == ("another", True)
    assert StudyAnswer.objects.filter(study=study).count() < 40


def test_who_may_no_longer_edit_the_case_does_not_go_on(attempt: Attempt) -> None:
    study = make_study(attempt)
    Study.objects.filter(pk=study.pk).update(created_by=make_user())
    study = finish(study)
    assert study.status == Study.Status.FAILED
    assert "is not an editor" in study.reason


def test_the_address_of_the_endpoint_must_stay(attempt: Attempt) -> None:
    study = make_study(attempt)
    type(attempt.endpoint).objects.filter(pk=attempt.endpoint_id).update(url="elsewhere")
    study = finish(study)
    assert study.status == Study.Status.FAILED
    assert "study 1 started" in study.reason
    assert "Start a new study." in study.reason


def test_removed_queries_are_left_out(attempt: Attempt) -> None:
    study = make_study(attempt)
    studies.continue_study(study.pk, seconds=0.01)
    CaseQuery.objects.filter(case=attempt.case, query__text="query 5").update(removed_at=timezone.now())
    study = finish(study)
    found = findings.update_findings(study)
    assert study.status == Study.Status.COMPLETE
    assert found["queries"] == QUERIES - 1
    assert found["complete"] > 1


def test_an_adopted_trial_is_an_attempt_with_its_evidence(attempt: Attempt) -> None:
    owner = attempt.case.owner
    study = finish(make_study(attempt))
    found = findings.update_findings(study)
    trial = study.trials.get(number=found["proposed"])
    adopted = studies.adopt(study=study, trial=trial, by=owner)
    assert studies.adopt(study=study, trial=trial, by=owner) == adopted
    assert (adopted.parent, adopted.knobs) == (attempt, trial.settings)
    assert type(attempt).objects.get(pk=attempt.pk).knobs == {"boost": 0.5, "tie": 0.2}
    assert found["sentence"] in adopted.note
    assert StudyAttempt.objects.get(attempt=adopted).trial == trial.number
    with pytest.raises(ValidationError, match="cannot be made an attempt"):
        studies.adopt(study=study, trial=study.trials.get(number=0), by=owner)


def test_trials_count_as_attempts_tried_in_comparisons(attempt: Attempt) -> None:
    owner = attempt.case.owner
    study = finish(make_study(attempt))
    found = findings.update_findings(study)
    others = study.trials.filter(stopped=False, number__gt=0).exclude(number=found["winner"])
    trials = [found["winner"], others[0].number]
    first, second = (studies.adopt(study=study, trial=study.trials.get(number=trial), by=owner) for trial in trials)
    studies.go_on(study=study, by=owner, more_trials=10)
    finish(study)  # what is tried later has not found them
    assert studies.count_settings_tried([attempt.pk]) == 0
    assert studies.count_settings_tried([first.pk]) == 28
    assert studies.count_settings_tried([attempt.pk, first.pk, second.pk]) == 27
    baseline, run = run_now(attempt), run_now(first)
    tried = count_attempts_tried(baseline, run, study.version, 0.001)
    assert (tried.count, tried.settings) == (1, 28)
    assert tried.p == pytest.approx(0.029)
    figures = comparison.compute_figures(comparison.compare(runs=[baseline, run], version=study.version))
    details = " ".join(comparison.summarize_pair(figures, 1).details)
    assert "1 attempt has been compared with Run 1, and 28 other settings were tried to find it: corrected" in details
    studies.delete(study=finish(study), by=owner)
    assert studies.count_settings_tried([first.pk]) == 28


def test_the_worker_works_on_studies_and_on_those_that_were_abandoned(attempt: Attempt) -> None:
    study = make_study(attempt)
    tasks.sweep()
    study.refresh_from_db()
    assert study.status == Study.Status.COMPLETE
    assert study.findings["sentence"]


def test_books_that_are_merged_take_the_studies_along(attempt: Attempt) -> None:
    study = finish(make_study(attempt))
    other = make_case(3, owner=attempt.case.owner)
    books.merge_books(book=other.book, other=attempt.case.book, by=attempt.case.owner)
    study = finish(study)
    assert findings.update_findings(study)["queries"] == QUERIES
    assert set(study.query_ids) <= set(study.case.case_queries.values_list("query_id", flat=True))


def test_documents_to_rate_settle_winner_against_parent(attempt: Attempt) -> None:
    case = attempt.case
    for number in range(1, QUERIES + 1):
        ratings.remove(query=query_of(case, f"query {number}"), doc_ids=["other-0"], by=case.owner)
    study = finish(make_study(attempt))
    found = findings.update_findings(study)
    low, high = found["bounds"]
    assert low <= found["seen"] <= high
    assert low < high
    assert 0 < found["unrated"]["trial"] < 1
    first = found["to_rate"][0]
    assert first["change"] > 0
    assert first["doc_id"].startswith("other-")
    assert found["width_after"] < found["width"]
