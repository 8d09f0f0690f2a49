"""Tasks: they trigger work, and may run more than once."""

from datetime import timedelta
from typing import Any

import pytest
from django.tasks import Task
from django.utils import timezone

from relevancy import cases, judging, ratings, runs, scorers, tasks
from relevancy.models import Book, Run, Scorer, ScorerVersion
from relevancy.runs import chunks, claims, parts
from tests.factories import make_attempt, make_case, query_of, rescore, run_now, script_of, stored_case_scores

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Records tasks instead of executing them."""
    enqueued: list[tuple[str, int]] = []
    for name in ("run_chunk", "rescore_book", "rescore_run"):
        task = getattr(tasks, name)
        monkeypatch.setattr(type(task), "enqueue", lambda self, pk, **_: enqueued.append((self.name, pk)))
    return enqueued


def test_wake_continues_until_the_run_is_complete() -> None:
    attempt = make_attempt(make_case(4))
    run = runs.start(attempt=attempt, by=attempt.created_by)
    tasks.enqueue_run(run)
    run.refresh_from_db()
    assert (run.status, run.done) == ("complete", 4)
    tasks.enqueue_run(run)
    assert len(script_of(attempt).requests) == 4


def test_run_chunk_enqueues_the_next_and_those_behind(queue: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    first = make_attempt(make_case(3))
    second = make_attempt(make_case(1, owner=first.created_by), first.endpoint)
    judging.judging_queue(first.case.book)  # somebody has asked what is to judge in it
    all_runs = [runs.start(attempt=attempt, by=attempt.created_by) for attempt in (first, second)]
    whole = runs.continue_run
    monkeypatch.setattr(runs, "continue_run", lambda pk, has_more: whole(pk, limit=2, has_more=has_more))
    tasks.run_chunk.func(all_runs[0].pk)
    assert queue == [("run_chunk", all_runs[1].pk), ("run_chunk", all_runs[0].pk)]
    tasks.run_chunk.func(all_runs[0].pk)
    assert queue[2:] == [("build_judging_queue", first.case.book_id)]  # the other run has a task in the queue already


def test_a_worker_calls_another_one_as_long_as_there_are_parts(
    queue: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "PART_QUERIES", 2)
    attempt = make_attempt(make_case(4))
    run = runs.start(attempt=attempt, by=attempt.created_by)
    script_of(attempt).before = lambda request: seen.append(list(queue))
    seen: list[list[Any]] = []
    tasks.enqueue_run(run)
    assert queue == [("run_chunk", run.pk)]
    tasks.run_chunk.func(run.pk)
    assert queue == [("run_chunk", run.pk)] * 2
    tasks.run_chunk.func(run.pk)
    assert [len(enqueued) for enqueued in seen] == [2, 2, 2, 2]  # the last part has no other one beside it
    assert queue[2:] == []  # nobody judges in this book


def test_ratings_changed_rescores_the_other_case() -> None:
    case = make_case(2, {"query 1": {"b": 1}})
    other = make_case(2, book_of=case)
    runs = [run_now(make_attempt(item)) for item in (case, other)]
    ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=3, by=case.owner)
    rescore(runs[0], query_of(case, "query 1").pk)
    tasks.enqueue_book_rescore(case.book_id)
    assert stored_case_scores(runs[0]) == stored_case_scores(runs[1])
    assert Book.objects.get().rescore_queued_at is None


def test_ratings_changed_is_enqueued_once(queue: list[Any]) -> None:
    case = make_case(1)
    for _ in range(5):
        tasks.enqueue_book_rescore(case.book_id)
    assert queue == [("rescore_book", case.book_id)]
    Book.objects.update(rescore_queued_at=timezone.now() - timedelta(seconds=61))  # it was lost
    tasks.enqueue_book_rescore(case.book_id)
    assert len(queue) == 2
    tasks.rescore_book.func(case.book_id)
    tasks.enqueue_book_rescore(case.book_id)
    assert len(queue) == 3
    Book.objects.update(rescore_queued_at=timezone.now() + timedelta(hours=1))  # by a clock that was wrong
    tasks.enqueue_book_rescore(case.book_id)
    assert len(queue) == 4


def test_rescore_book_rescores_all_runs_of_the_history_and_leaves_archived_cases_alone() -> None:
    case = make_case(1, {"query 1": {"b": 1}})
    archived = make_case(1, book_of=case)
    attempt = make_attempt(case)
    runs = [run_now(attempt) for _ in range(3)]
    # A pinned run keeps its results; its scores follow the ratings, or it could not be compared.
    Run.objects.filter(pk=runs[1].pk).update(pinned_at=timezone.now())
    left_alone = run_now(make_attempt(archived))
    cases.archive(case=archived)
    ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=3, by=case.owner)
    tasks.enqueue_book_rescore(case.book_id)
    assert [stored_case_scores(run)["nDCG@10"][0] for run in runs] == [100, 100, 100]
    assert stored_case_scores(left_alone)["nDCG@10"][0] != 100


def test_a_long_rescoring_goes_on_in_one_other_task_at_a_time_which_does_not_come_before_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queue: list[tuple[str, int, int]] = []
    monkeypatch.setattr(Task, "enqueue", lambda self, pk, **_: queue.append((self.name, pk, self.priority)))
    case = make_case(1, {"query 1": {"b": 1}})
    attempt = make_attempt(case)
    runs = [run_now(attempt) for _ in range(2)]
    ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=3, by=case.owner)
    monkeypatch.setattr(tasks, "RESCORE_SECONDS", -1.0)
    for _ in range(2):  # such as one after a rating, and one of `sweep`
        tasks.rescore_book.func(case.book_id)
        tasks.enqueue_book_rescore(case.book_id)
    assert queue == [("rescore_book", case.book_id, tasks.LOW_PRIORITY)] * 2  # each begins before the next is enqueued
    assert tasks.run_chunk.priority == tasks.LOW_PRIORITY < tasks.rescore_book.priority
    monkeypatch.undo()
    tasks.rescore_book.func(case.book_id)
    assert [stored_case_scores(run)["nDCG@10"][0] for run in runs] == [100, 100]


def test_rescoring_after_another_scorer_was_chosen() -> None:
    case = make_case(1, {"query 1": {"b": 3}})
    attempt = make_attempt(case)
    runs = [run_now(attempt) for _ in range(2)]
    scorers.choose_scorers(case=case, scorers=[Scorer.objects.get(name="RR@10")])
    tasks.enqueue_book_rescore(case.book_id)
    assert [stored_case_scores(run)["RR@10"][0] for run in runs] == [50, 50]


def test_sweep_wakes_abandoned_runs(queue: list[Any]) -> None:
    attempt = make_attempt(make_case(2))
    run = runs.start(attempt=attempt, by=attempt.created_by)
    assert tasks.sweep() == 0
    old = timezone.now() - timedelta(minutes=3)
    run.parts.update(claimed_by="dead", heartbeat_at=old)
    assert tasks.sweep() == 1
    assert queue == [("run_chunk", run.pk)]


def test_sweep_takes_parts_from_workers_whose_heartbeat_is_of_a_clock_that_was_wrong(queue: list[Any]) -> None:
    attempt = make_attempt(make_case(2))
    run = runs.start(attempt=attempt, by=attempt.created_by)
    run.parts.update(
        claimed_by="alive", heartbeat_at=timezone.now() + timedelta(seconds=10)
    )  # clocks of two machines differ
    assert (tasks.sweep(), claims.claim(run.pk)) == (0, None)
    run.parts.update(claimed_by="dead", heartbeat_at=timezone.now() + timedelta(hours=1))
    assert tasks.sweep() == 1
    assert queue == [("run_chunk", run.pk)]
    assert claims.claim(run.pk) is not None


def test_sweep_enqueues_rescoring_that_was_lost(queue: list[Any]) -> None:
    """With the queue, or with the worker that had the task: it has emptied `rescore_queued_at` at its beginning."""
    case = make_case(1, {"query 1": {"b": 1}})
    run_now(make_attempt(case))
    tasks.sweep()
    assert queue == []
    ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=3, by=case.owner)
    tasks.sweep()
    tasks.sweep()  # it waits in the queue already
    assert queue == [("rescore_book", case.book_id)]
    Book.objects.update(rescore_queued_at=timezone.now() - timedelta(seconds=61))
    tasks.sweep()
    assert len(queue) == 2
    tasks.rescore_book.func(case.book_id)
    tasks.sweep()
    assert len(queue) == 2


def test_sweep_leaves_scores_alone_that_cannot_be_computed(queue: list[Any]) -> None:
    case = make_case(1, {"query 1": {"b": 1}}, measures=["nDCG@10"])
    run = run_now(make_attempt(case))
    version = ScorerVersion.objects.create(
        scorer=Scorer.objects.create(name="script"), number=1, script="setScore(1)", scale=[[0, ""], [3, ""]]
    )
    case.case_scorers.create(scorer=version.scorer, version=version, position=1)
    Run.objects.filter(pk=run.pk).update(fields_dropped_at=timezone.now())
    tasks.sweep()
    assert queue == []
    Run.objects.filter(pk=run.pk).update(fields_dropped_at=None)
    tasks.sweep()
    assert queue == [("rescore_book", case.book_id)]
    Book.objects.update(rescore_queued_at=None)
    cases.archive(case=case)
    tasks.sweep()
    assert len(queue) == 1


def test_send_when_the_queue_is_down(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def refused(*_: Any) -> None:
        raise ConnectionError("no broker")

    monkeypatch.setattr(type(tasks.run_chunk), "enqueue", refused)
    attempt = make_attempt(make_case(2))
    run = runs.start(attempt=attempt, by=attempt.created_by)
    tasks.enqueue_run(run)
    assert "could not be enqueued" in caplog.text
    run.refresh_from_db()
    assert run.status == Run.Status.WAITING
    monkeypatch.undo()
    Run.objects.update(
        created_at=timezone.now() - timedelta(minutes=2), queued_at=timezone.now() - timedelta(minutes=2)
    )
    assert tasks.sweep() == 1  # later the sweep finds it
    run.refresh_from_db()
    assert run.status == Run.Status.COMPLETE


def test_enqueue_run_rescore_is_enqueued_once(queue: list[Any]) -> None:
    run = run_now(make_attempt(make_case(1)))
    for _ in range(3):
        tasks.enqueue_run_rescore(run)
    assert queue == [("rescore_run", run.pk)]
    Run.objects.update(rescore_queued_at=timezone.now() - timedelta(seconds=61))  # the task was lost
    tasks.enqueue_run_rescore(run)
    tasks.rescore_run.func(run.pk)
    tasks.enqueue_run_rescore(run)
    assert len(queue) == 3


def test_the_run_of_a_killed_worker_goes_on_within_a_minute():
    longest = claims.STALE_AFTER.total_seconds() + tasks.SWEEP_SECONDS
    assert longest < 60
    assert claims.STALE_AFTER.total_seconds() >= 4 * chunks.HEARTBEAT_SECONDS  # one that works is not taken for dead
