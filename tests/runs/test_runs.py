"""A run from start to end: complete, failing, in chunks, cancelled, resumed, completed later."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from relevancy import endpoints, engines, queries, runs, scores
from relevancy.models import Case, Endpoint, Run, ScorerVersion
from relevancy.runs import chunks, claims
from tests.factories import (
    make_attempt,
    make_case,
    make_endpoint,
    make_user,
    query_of,
    run_now,
    script_of,
    stored_case_scores,
    stored_scores,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
DOWN = engines.EndpointUnreachable("Nothing answered.")
WRONG = engines.BadQuery("No such parser.")


def age(run: Run, seconds: int = 300) -> None:
    """Makes the run look as if no worker had touched it for a while."""
    old = timezone.now() - timedelta(seconds=seconds)
    Run.objects.filter(pk=run.pk).update(created_at=old)
    run.parts.update(heartbeat_at=old)


def killed(run: Run) -> None:
    """What a worker leaves behind that was killed while it held the run."""
    Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING)
    run.parts.update(claimed_by="dead", slots=1)
    age(run)


def test_start_to_end_complete() -> None:
    case = make_case(3, {"query 1": {"a": 3, "x": 1}, "query 2": {"c": 2}})
    attempt = make_attempt(case)
    run = run_now(attempt)
    assert (run.status, run.reason, run.done, run.failed, run.queries) == ("complete", "", 3, 0, 3)
    assert (run.number, run.version, run.parts.count(), run.rows) == (1, "Scripted 1.0", 0, 10)
    assert run.started_at and run.finished_at and run.started_at <= run.finished_at
    ranking = run.rankings.get(query=query_of(case, "query 1"))
    assert ranking.hits == [["a", 3.0, {"id": "a"}], ["b", 2.0, {"id": "b"}], ["c", 1.0, {"id": "c"}]]
    assert (ranking.text, ranking.returned, ranking.total, ranking.options) == ("query 1", 3, 3, {})
    scores = stored_scores(run)
    assert scores["nDCG@10", "query 1"][1] == pytest.approx(100 * 7 / (7 + 1 / 1.584962500721156))
    assert scores["nDCG@10", "query 3"] == (None, None, None, None, 3)
    score, _, _, scored, queries, unrated = stored_case_scores(run)["nDCG@10"]
    assert score == pytest.approx((scores["nDCG@10", "query 1"][1] + scores["nDCG@10", "query 2"][1]) / 2)
    assert (scored, queries, unrated) == (2, 3, 2 + 2 + 3)


def test_continue_run_one_failed_query_does_not_stop_others() -> None:
    case = make_case(3)
    attempt = make_attempt(case)
    script_of(attempt).answers["query 2"] = WRONG
    run = run_now(attempt)
    assert (run.status, run.done, run.failed) == ("incomplete", 3, 1)
    assert run.reason == "1 of 3 searches failed. First error: No such parser."
    failed = run.rankings.exclude(error_kind="").get()
    assert (failed.text, failed.error_kind, failed.error, failed.hits) == ("query 2", "bad query", str(WRONG), [])
    assert {query for _, query in stored_scores(run)} == {"query 1", "query 3"}


def test_continue_run_engine_down_fails_after_consecutive_failures_and_complete_searches_the_rest() -> None:
    case = make_case(40, {"query 1": {"a": 3}})
    attempt = make_attempt(case)
    script = script_of(attempt)
    script.default = DOWN
    run = run_now(attempt)
    assert run.status == "failed"
    assert run.reason.startswith("16 searches in a row failed. Error of the last one: Nothing answered.")
    assert len(script.requests) == chunks.MAX_CONSECUTIVE_FAILURES == run.done == run.failed == run.rankings.count()
    assert not run.query_scores.exists()
    script.default = ("a",)
    run = runs.finish_here(runs.complete(run=run, by=case.owner))
    assert (run.status, run.done, run.failed, run.reason) == ("complete", 40, 0, "")
    assert run.rankings.count() == 40
    assert stored_case_scores(run)["nDCG@10"][0] == 100


def test_continue_run_engine_down_is_noticed_across_small_chunks() -> None:
    attempt = make_attempt(make_case(40))
    script_of(attempt).default = DOWN
    run = runs.start(attempt=attempt, by=attempt.created_by)
    while runs.continue_run(run.pk, limit=3).unfinished:
        pass
    run.refresh_from_db()
    assert run.status == "failed"
    assert run.done < 40


def test_continue_run_engine_goes_down_in_the_middle_keeps_what_it_has() -> None:
    attempt = make_attempt(make_case(40))
    script = script_of(attempt)
    script.default = lambda request: ("a",) if len(script.requests) <= 10 else DOWN
    run = run_now(attempt)
    assert (run.status, run.done, run.failed) == ("failed", 26, 16)
    script.default = ("a",)
    run = runs.finish_here(runs.complete(run=run, by=run.created_by))
    assert (run.status, run.done) == ("complete", 40)
    assert len(script.requests) == 26 + 30


def test_continue_run_version_unreachable_fails_before_any_search() -> None:
    attempt = make_attempt(make_case(3))
    script_of(attempt).version = DOWN
    run = run_now(attempt)
    assert (run.status, run.reason, run.done) == ("failed", "Nothing answered.", 0)
    assert script_of(attempt).requests == []


def test_continue_run_hidden_version_does_not_matter() -> None:
    attempt = make_attempt(make_case(3))
    script_of(attempt).version = engines.EndpointRefused("Not for you.")
    run = run_now(attempt)
    assert (run.status, run.version) == ("complete", "")


def test_start_refuses_a_broken_template() -> None:
    attempt = make_attempt(make_case(3))
    attempt.template = '{"query": '
    with pytest.raises(engines.TemplateError):
        runs.start(attempt=attempt, by=attempt.created_by)
    assert not Run.objects.exists()


def test_start_refuses_without_queries() -> None:
    attempt = make_attempt(make_case(0))
    with pytest.raises(runs.RunNotAllowed, match="has no queries"):
        runs.start(attempt=attempt, by=attempt.created_by)


def test_start_refuses_an_archived_endpoint() -> None:
    attempt = make_attempt(make_case(1))
    endpoints.archive(endpoint=attempt.endpoint)
    with pytest.raises(runs.RunNotAllowed, match="is archived"):
        runs.start(attempt=attempt, by=attempt.created_by)


def test_start_refuses_while_another_run_is_active() -> None:
    attempt = make_attempt(make_case(3))
    runs.start(attempt=attempt, by=attempt.created_by)
    with pytest.raises(runs.RunNotAllowed, match="Run 1 is still waiting"):
        runs.start(attempt=attempt, by=attempt.created_by)


def test_start_uses_the_depth_of_the_deepest_scorer() -> None:
    case = make_case(1, measures=["P@5", "nDCG@25"])
    assert run_now(make_attempt(case, depth=10)).rows == 25
    assert run_now(make_attempt(case, depth=40)).rows == 40


def test_config_has_no_credentials() -> None:
    case = make_case(1)
    endpoint = make_endpoint(
        case.owner,
        credentials={"username": "shop-user", "password": "very-secret"},
        headers={"x-key": "header-secret"},
        options={"query_options": {"lang": "en"}, "verify": True},
    )
    run = run_now(make_attempt(case, endpoint))
    stored = repr(run.config) + repr(list(run.rankings.values()))
    assert not any(secret in stored for secret in ("shop-user", "very-secret", "header-secret"))
    assert run.config["options"] == {"lang": "en"}
    assert set(run.config) == {
        "engine", "endpoint", "url", "template", "knobs", "fields", "depth", "escape", "options",
    }  # fmt: skip


def test_request_options_of_the_query_win() -> None:
    case = make_case(2)
    case.options = {"lang": "de", "shop": 1}
    case.save()
    case_query = case.case_queries.get(query__text="query 2")
    case_query.options = {"lang": "fr"}
    case_query.save()
    attempt = make_attempt(Case.objects.get(pk=case.pk))
    run_now(attempt)
    options_by_query = {request.query: dict(request.options) for request in script_of(attempt).requests}
    assert options_by_query == {"query 1": {"lang": "de", "shop": 1}, "query 2": {"lang": "fr", "shop": 1}}


def test_continue_run_in_chunks() -> None:
    attempt = make_attempt(make_case(10))
    run = runs.start(attempt=attempt, by=attempt.created_by)
    steps = []
    while True:
        steps.append(runs.continue_run(run.pk, limit=3).unfinished)
        assert not run.parts.exclude(claimed_by="", slots=0).exists()
        if not steps[-1]:
            break
    run.refresh_from_db()
    assert steps == [True, True, True, False]
    assert script_of(attempt).texts == [f"query {number}" for number in range(1, 11)]
    assert (run.status, run.done) == ("complete", 10)


def test_continue_run_stops_when_its_time_is_over() -> None:
    attempt = make_attempt(make_case(5))
    run = runs.start(attempt=attempt, by=attempt.created_by)
    assert runs.continue_run(run.pk, seconds=-1).unfinished
    assert script_of(attempt).requests == []


def test_continue_run_of_a_finished_run_changes_nothing() -> None:
    run = run_now(make_attempt(make_case(2)))
    assert runs.continue_run(run.pk) == runs.ChunkResult(unfinished=False)
    assert runs.continue_run(12345) == runs.ChunkResult(unfinished=False)
    assert run.rankings.count() == 2


def test_claim_while_another_holds_it() -> None:
    attempt = make_attempt(make_case(2))
    run = runs.start(attempt=attempt, by=attempt.created_by)
    assert claims.claim(run.pk)
    assert claims.claim(run.pk) is None
    assert runs.continue_run(run.pk) == runs.ChunkResult(unfinished=False)
    assert script_of(attempt).requests == []


def test_sweep_killed_worker_is_followed_by_another_without_losing_or_doubling() -> None:
    attempt = make_attempt(make_case(10))
    run = runs.start(attempt=attempt, by=attempt.created_by)
    runs.continue_run(run.pk, limit=4)
    killed(run)
    assert runs.sweep() == [run.pk]
    part = run.parts.get()
    assert (part.worker_restarts, part.claimed_by, part.slots) == (1, "", 0)
    run = runs.finish_here(run)
    assert (run.status, run.done, run.rankings.count()) == ("complete", 10, 10)
    assert sorted(script_of(attempt).texts) == sorted(f"query {number}" for number in range(1, 11))
    assert runs.sweep() == []


def test_sweep_leaves_those_at_work_alone() -> None:
    attempt = make_attempt(make_case(2))
    run = runs.start(attempt=attempt, by=attempt.created_by)
    assert runs.sweep() == []  # just created: its task is queued
    claimed = claims.claim(run.pk)
    assert runs.sweep() == []
    part = run.parts.get()
    assert claimed and (part.claimed_by, part.worker_restarts) == (claimed.part.claimed_by, 0)


def test_sweep_wakes_a_run_whose_task_was_lost() -> None:
    attempt = make_attempt(make_case(2))
    run = runs.start(attempt=attempt, by=attempt.created_by)
    age(run)
    run.parts.update(heartbeat_at=None)
    assert runs.sweep() == [run.pk]
    assert run.parts.get().worker_restarts == 0


def test_sweep_gives_up_after_three_dead_workers() -> None:
    attempt = make_attempt(make_case(5, {"query 1": {"a": 3}}))
    run = runs.start(attempt=attempt, by=attempt.created_by)
    runs.continue_run(run.pk, limit=2)
    for worker_restarts in (1, 2):
        killed(run)
        assert runs.sweep() == [run.pk]
        assert run.parts.get().worker_restarts == worker_restarts
    killed(run)
    assert runs.sweep() == []
    run.refresh_from_db()
    assert run.status == "failed"
    assert "3 workers in a row stopped" in run.reason
    assert run.finished_at and not run.parts.exists()
    assert stored_case_scores(run)["nDCG@10"][0] == 100
    run = runs.finish_here(runs.complete(run=run, by=run.created_by))
    assert (run.status, run.rankings.count()) == ("complete", 5)


def test_a_successful_chunk_resets_the_count_of_dead_workers() -> None:
    attempt = make_attempt(make_case(5))
    run = runs.start(attempt=attempt, by=attempt.created_by)
    killed(run)
    runs.sweep()
    assert run.parts.get().worker_restarts == 1
    runs.continue_run(run.pk, limit=2)
    assert run.parts.get().worker_restarts == 0


def test_a_worker_that_was_silent_for_too_long_writes_nothing_more() -> None:
    case = make_case(6, {"query 1": {"a": 3}})
    attempt = make_attempt(case)
    script = script_of(attempt)
    run = runs.start(attempt=attempt, by=attempt.created_by)

    def taken_over(request: engines.Request) -> None:
        if len(script.requests) == 3:
            script.before = lambda request: None
            age(run)
            runs.finish_here(run)
            script.default = ("late",)

    script.before = taken_over
    assert runs.continue_run(run.pk) == runs.ChunkResult(unfinished=False)
    run.refresh_from_db()
    assert (run.status, run.done, run.rankings.count()) == ("complete", 6, 6)
    assert all(ranking.hits[0][0] == "a" for ranking in run.rankings.all())
    assert stored_scores(run)["nDCG@10", "query 1"][1] == 100


def test_an_unexpected_error_releases_the_run(caplog: pytest.LogCaptureFixture) -> None:
    attempt = make_attempt(make_case(3))
    script_of(attempt).default = RuntimeError("a bug")
    run = runs.start(attempt=attempt, by=attempt.created_by)
    with pytest.raises(RuntimeError, match="a bug"):
        runs.continue_run(run.pk)
    run.refresh_from_db()
    part = run.parts.get()
    assert (part.claimed_by, part.slots, part.worker_restarts, run.status) == ("", 0, 1, "running")
    assert "a bug" in caplog.text


def test_an_interrupt_releases_the_run_and_cancel_ends_it() -> None:
    attempt = make_attempt(make_case(5))
    script = script_of(attempt)

    def interrupt(request: engines.Request) -> None:
        if len(script.requests) == 2:
            raise KeyboardInterrupt

    script.before = interrupt
    run = runs.start(attempt=attempt, by=attempt.created_by)
    with pytest.raises(KeyboardInterrupt):
        runs.continue_run(run.pk)
    runs.cancel(run=run)
    run.refresh_from_db()
    assert (run.status, run.parts.count()) == ("cancelled", 0)


def test_unreadable_credentials_fail_the_run(settings: Any) -> None:
    case = make_case(2)
    attempt = make_attempt(case, make_endpoint(case.owner, credentials={"bearer": "abc"}))
    run = runs.start(attempt=attempt, by=attempt.created_by)
    settings.CREDENTIALS_KEYS = ["MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="]
    assert runs.continue_run(run.pk).unfinished is False
    status, reason = Run.objects.values_list("status", "reason").get(pk=run.pk)
    assert status == "failed"
    assert "RELEVANCY_CREDENTIALS_KEY" in reason


def test_a_run_behind_a_dead_one_does_not_wait_forever() -> None:
    first = make_attempt(make_case(4))
    second = make_attempt(make_case(2, owner=first.created_by), first.endpoint)
    Endpoint.objects.update(parallel=1)
    dead = runs.start(attempt=first, by=first.created_by)
    killed(dead)
    assert run_now(second).status == "complete"


def test_cancel_before_the_first_chunk() -> None:
    attempt = make_attempt(make_case(4))
    run = runs.start(attempt=attempt, by=attempt.created_by)
    runs.cancel(run=run)
    run.refresh_from_db()
    assert (run.status, run.reason) == ("cancelled", "No query had been searched.")
    assert run.finished_at
    assert runs.continue_run(run.pk) == runs.ChunkResult(unfinished=False)
    assert script_of(attempt).requests == []


def test_cancel_between_two_chunks_wakes_the_next_run() -> None:
    first = make_attempt(make_case(4, {"query 1": {"a": 2}}))
    second = make_attempt(make_case(2, owner=first.created_by), first.endpoint)
    run = runs.start(attempt=first, by=first.created_by)
    runs.continue_run(run.pk, limit=2)
    waiting = runs.start(attempt=second, by=second.created_by)
    runs.cancel(run=run)
    run.refresh_from_db()
    assert (run.status, run.reason, run.done) == ("cancelled", "2 of 4 queries had been searched.", 2)
    assert stored_case_scores(run)["nDCG@10"][0] == 100
    assert runs.continue_run(run.pk) == runs.ChunkResult(unfinished=False, unblocked_runs=[waiting.pk])


def test_cancel_in_the_middle_and_complete_continues(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "MAX_UNWRITTEN", 2)
    attempt = make_attempt(make_case(10))
    run = runs.start(attempt=attempt, by=attempt.created_by)
    seen: list[tuple[int, int, int]] = []

    def progress(*counts: int) -> None:
        seen.append(counts)  # type: ignore[arg-type]
        if counts[0] == 4:
            runs.cancel(run=run)

    run = runs.finish_here(run, progress=progress)
    assert (run.status, run.reason) == ("cancelled", f"{run.done} of 10 queries had been searched.")
    assert 4 <= run.done == run.rankings.count() <= 6
    assert seen[:2] == [(2, 0, 10), (4, 0, 10)]
    runs.cancel(run=run)  # once more: nothing happens
    run.refresh_from_db()
    assert run.status == "cancelled"
    again = runs.complete(run=run, by=run.created_by)
    assert (again.status, again.done, again.cancel_requested, again.reason) == ("waiting", run.done, False, "")
    run = runs.finish_here(again)
    assert (run.status, run.done) == ("complete", 10)
    assert sorted(script_of(attempt).texts) == sorted(f"query {number}" for number in range(1, 11))


def test_a_worker_with_a_slow_engine_sends_heartbeats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "HEARTBEAT_SECONDS", 0.0)
    monkeypatch.setattr(chunks, "CANCEL_CHECK_SECONDS", 0.0)
    attempt = make_attempt(make_case(4))
    script = script_of(attempt)
    run = runs.start(attempt=attempt, by=attempt.created_by)

    def before(request: engines.Request) -> None:
        if len(script.requests) == 1:
            runs.cancel(run=run)

    script.before = before
    assert runs.finish_here(run).status == "cancelled"
    assert len(script.requests) == 2


def test_complete_searches_new_edited_and_failed_queries_only() -> None:
    case = make_case(5, {"query 1": {"a": 3}})
    attempt = make_attempt(case)
    script = script_of(attempt)
    script.answers["query 2"] = WRONG
    run = run_now(attempt)
    kept = run.rankings.get(query__text="query 1")
    queries.add(case=case, texts=["query 6"])
    queries.edit(case_query=case.case_queries.get(query__text="query 3"), text="query three")
    queries.edit(case_query=case.case_queries.get(query__text="query 4"), text="query 4", options='{"lang": "en"}')
    assert runs.count_unsearched(run) == {"new": 1, "edited": 2}
    script.requests.clear()
    script.answers.clear()
    script.default = ("z",)
    run = runs.complete(run=run, by=run.created_by)
    assert (run.queries, run.done, run.failed) == (6, 2, 0)
    run = runs.finish_here(run)
    assert sorted(script.texts) == ["query 2", "query 4", "query 6", "query three"]
    assert (run.status, run.done, run.queries, run.rankings.count()) == ("complete", 6, 6, 6)
    assert runs.count_unsearched(run) == {"new": 0, "edited": 0}
    again = run.rankings.get(query__text="query 1")
    assert again.pk == kept.pk
    assert run.rankings.get(query__text="query three").pk > kept.pk


def test_complete_with_nothing_to_search() -> None:
    run = run_now(make_attempt(make_case(2)))
    run = runs.finish_here(runs.complete(run=run, by=run.created_by))
    assert (run.status, run.done) == ("complete", 2)


def test_complete_refuses_older_pinned_and_busy_runs() -> None:
    attempt = make_attempt(make_case(2))
    old, run = run_now(attempt), run_now(attempt)
    with pytest.raises(runs.RunNotAllowed, match="Run 1 is pinned or not the newest"):
        runs.complete(run=old, by=run.created_by)
    Run.objects.filter(pk=run.pk).update(pinned_at=timezone.now())
    with pytest.raises(runs.RunNotAllowed, match="Run 2 is pinned"):
        runs.complete(run=run, by=run.created_by)
    Run.objects.filter(pk=run.pk).update(pinned_at=None)
    runs.complete(run=run, by=run.created_by)
    with pytest.raises(runs.RunNotAllowed, match="still waiting"):
        runs.complete(run=run, by=run.created_by)


def test_a_run_whose_endpoint_has_changed_is_not_extended() -> None:
    case = make_case(3)
    attempt = make_attempt(case)
    script_of(attempt).answers["query 2"] = WRONG
    run = run_now(attempt)
    other = make_endpoint(case.owner)
    Endpoint.objects.filter(pk=attempt.endpoint_id).update(url=other.url)
    run = Run.objects.get(pk=run.pk)
    with pytest.raises(runs.RunNotAllowed, match="Start a new run"):
        runs.complete(run=run, by=case.owner)
    with pytest.raises(runs.RunNotAllowed, match="Start a new run"):
        runs.search_again(run=run, case_query=case.case_queries.first(), by=case.owner)
    assert run.rankings.count() == 3


def test_a_removed_query_does_not_count() -> None:
    case = make_case(3, {"query 1": {"a": 3}, "query 2": {"c": 1}})
    attempt = make_attempt(case)
    script_of(attempt).answers["query 3"] = WRONG
    run = run_now(attempt)
    for text in ("query 2", "query 3"):
        queries.remove(case_query=case.case_queries.get(query__text=text))
    scores.score_case(run, ScorerVersion.objects.used_by(case))
    score, low, high, *counts = stored_case_scores(run)["nDCG@10"]
    assert (score, high, counts) == (100, 100, [1, 1, 2])
    assert low < 100
    run = runs.finish_here(runs.complete(run=run, by=case.owner))
    assert (run.status, run.done, run.failed, run.queries) == ("complete", 1, 0, 1)
    assert list(run_now(attempt).rankings.values_list("query__text", flat=True)) == ["query 1"]


def test_repeated_documents_of_one_response() -> None:
    case = make_case(1, {"query 1": {"a": 3, "b": 1}}, measures=["P@3", "nDCG@3"])
    attempt = make_attempt(case)
    script_of(attempt).default = ("a", "a", "b")
    run = run_now(attempt)
    assert [hit[0] for hit in run.rankings.get().hits] == ["a", "a", "b"]
    scores = stored_scores(run)
    assert scores["P@3", "query 1"][1] == pytest.approx(200 / 3)
    assert scores["nDCG@3", "query 1"][1] == pytest.approx(100 * (7 + 0.5) / (7 + 1 / 1.584962500721156))
    shown = runs.build_results(run.rankings.get(), by=make_user(), depth=10)
    assert [result.repeat for result in shown] == [False, True, False]


def test_search_again_replaces_on_success() -> None:
    case = make_case(2, {"query 1": {"a": 3, "z": 1}})
    attempt = make_attempt(case)
    script = script_of(attempt)
    script.answers["query 2"] = WRONG
    run = run_now(attempt)
    before = stored_case_scores(run)["nDCG@10"][0]
    script.answers = {"query 1": ("z", "a"), "query 2": ("b",)}
    case_query = case.case_queries.get(query__text="query 1")
    assert runs.search_again(run=run, case_query=case_query, by=case.owner).hits[0][0] == "z"
    assert [hit[0] for hit in run.rankings.get(query=case_query.query).hits] == ["z", "a"]
    assert stored_case_scores(run)["nDCG@10"][0] < before
    assert run.status == "incomplete"
    runs.search_again(run=run, case_query=case.case_queries.get(query__text="query 2"), by=case.owner)
    assert (run.status, run.reason, run.done, run.failed) == ("complete", "", 2, 0)
    assert run.rankings.count() == 2


def test_search_again_keeps_its_scores_from_those_of_the_former_ranking() -> None:
    case = make_case(1, {"query 1": {"a": 3, "z": 1}})
    attempt = make_attempt(case)
    script_of(attempt).answers["query 1"] = ("a", "z")
    run = run_now(attempt)
    versions = list(ScorerVersion.objects.used_by(case))
    of_former = scores.compute_scores(run, list(run.rankings.all()), versions)  # as a worker that rescores the run
    script_of(attempt).answers["query 1"] = ("z", "a")
    runs.search_again(run=run, case_query=case.case_queries.get(), by=case.owner)
    expected = stored_scores(run)
    with transaction.atomic():
        scores.store(of_former)
    assert stored_scores(run) == expected
    with transaction.atomic():
        scores.store(scores.compute_scores(run, list(run.rankings.all()), versions))
    assert stored_scores(run) == expected


def test_search_again_keeps_the_ranking_on_an_error() -> None:
    case = make_case(1, {"query 1": {"a": 3}})
    attempt = make_attempt(case)
    run = run_now(attempt)
    before = (list(run.rankings.values()), stored_scores(run), stored_case_scores(run))
    script_of(attempt).default = DOWN
    with pytest.raises(engines.EndpointUnreachable):
        runs.search_again(run=run, case_query=case.case_queries.get(), by=case.owner)
    run.refresh_from_db()
    assert (list(run.rankings.values()), stored_scores(run), stored_case_scores(run)) == before
    assert run.status == "complete"


def test_search_again_refuses_pinned_busy_and_older_runs() -> None:
    case = make_case(1)
    attempt = make_attempt(case)
    run = run_now(attempt)
    case_query = case.case_queries.get()
    run.pinned_at = timezone.now()
    run.save()
    with pytest.raises(runs.RunNotAllowed, match="is pinned"):
        runs.search_again(run=run, case_query=case_query, by=case.owner)
    newer = runs.start(attempt=attempt, by=case.owner)
    with pytest.raises(runs.RunNotAllowed, match="is waiting"):
        runs.search_again(run=newer, case_query=case_query, by=case.owner)
    run.pinned_at = None
    with pytest.raises(runs.RunNotAllowed, match="not the newest"):
        runs.search_again(run=run, case_query=case_query, by=case.owner)


def test_search_again_does_not_disturb_a_run_that_continued_meanwhile() -> None:
    case = make_case(3)
    attempt = make_attempt(case)
    script = script_of(attempt)
    script.answers["query 2"] = WRONG
    run = run_now(attempt)
    script.answers.clear()

    def completed_meanwhile(request: engines.Request) -> None:
        script.before = lambda request: None
        runs.complete(run=run, by=case.owner)

    script.before = completed_meanwhile
    with pytest.raises(runs.RunNotAllowed, match="is waiting"):
        runs.search_again(run=run, case_query=case.case_queries.get(query__text="query 1"), by=case.owner)
    assert Run.objects.get(pk=run.pk).status == "waiting"


def test_rendered_request_sends_nothing() -> None:
    attempt = make_attempt(make_case(1))
    run = run_now(attempt)
    script_of(attempt).requests.clear()
    assert runs.rendered_request(run.rankings.get()) == {"query": "query 1"}
    assert script_of(attempt).requests == []


def test_config_of_an_engine_without_options_has_no_mapping() -> None:
    assert "mapping" not in run_now(make_attempt(make_case(1))).config
