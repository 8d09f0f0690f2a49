"""Tasks of the database: listed by status, and repeated after a failure."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone
from django_tasks_db.management.commands import db_worker
from django_tasks_db.models import DBTaskResult, get_date_max

from relevancy import logs, tasks
from relevancy.optional.background_work import task_queue
from tests.factories import make_attempt, make_case, run_now

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("database_queue")]


@pytest.fixture
def database_queue(settings) -> None:
    settings.TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend", "QUEUES": ["default"]}}


def work() -> None:
    """Executes the tasks that are ready, as a worker does."""
    worker = db_worker.Worker(
        queue_names=["default"],
        interval=0,
        batch=True,
        backend_name="default",
        startup_delay=False,
        max_tasks=None,
        worker_id="worker",
        excluded_queue_names=[],
    )
    for task in DBTaskResult.objects.ready():
        task.claim("worker")
        worker.run_task(task)


@pytest.fixture
def failed() -> DBTaskResult:
    """A task of a case that is not there."""
    with logs.within_request("abc123"):
        tasks.send(tasks.prune_display_fields, 4711)
    work()
    return DBTaskResult.objects.get(status="FAILED")


def test_tasks_are_listed_by_status_with_what_they_are_of(failed) -> None:
    now = timezone.now()
    tasks.send(tasks.rescore_run, 12)
    tasks.send(tasks.rescore_book, 13, pause=timedelta(minutes=5))
    DBTaskResult.objects.create(
        task_path="relevancy.tasks.run_chunk",
        args_kwargs={"args": [1, "ann@example.org"], "kwargs": {}},
        backend_name="default",
        run_after=get_date_max(),
        status="RUNNING",
        started_at=now,
    )
    lists = task_queue.task_lists()
    assert {name: listed.count for name, listed in lists.items()} == {"failed": 1, "running": 1, "waiting": 2}
    (listed,) = lists["failed"].tasks
    assert (listed.id, listed.name, listed.arguments, listed.reference) == (
        failed.pk,
        "prune_display_fields",
        "4711",
        "abc123",
    )
    assert listed.reason.endswith("Case matching query does not exist.")
    assert listed.traceback.startswith("Traceback")
    assert lists["running"].tasks[0].arguments == "1"
    waiting = {task.name: task.begins_at for task in lists["waiting"].tasks}
    assert waiting["rescore_run"] is None
    assert waiting["rescore_book"] > now + timedelta(minutes=4)


def test_no_more_than_some_are_listed(failed, monkeypatch) -> None:
    monkeypatch.setattr(task_queue, "MAX_LISTED", 2)
    for number in range(5):
        tasks.send(tasks.rescore_run, number)
    waiting = task_queue.task_lists()["waiting"]
    assert (waiting.count, len(waiting.tasks)) == (5, 2)


@pytest.mark.usefixtures("script")
def test_a_failed_task_can_succeed_when_it_is_repeated(failed) -> None:
    run = run_now(make_attempt(make_case(1)))
    failed.args_kwargs["args"] = [run.case_id]
    failed.save()
    assert task_queue.repeat(failed.pk)
    failed.refresh_from_db()
    assert (failed.status, failed.traceback, failed.finished_at) == ("READY", "", None)
    assert not task_queue.repeat(failed.pk)
    work()
    failed.refresh_from_db()
    assert failed.status == "SUCCESSFUL"


def test_a_task_that_fails_again_is_in_the_list_again(failed) -> None:
    assert task_queue.repeat(failed.pk)
    assert task_queue.task_lists()["failed"].count == 0
    work()
    assert [task.id for task in task_queue.task_lists()["failed"].tasks] == [failed.pk]


def test_only_a_failed_task_is_repeated() -> None:
    assert not task_queue.repeat(uuid4())


@pytest.mark.parametrize("backend", ["relevancy.celery_backend.CeleryBackend", "django.tasks.backends.immediate.X"])
def test_other_queues_cannot_be_listed(settings, backend) -> None:
    settings.TASKS = {"default": {"BACKEND": backend, "QUEUES": ["default"]}}
    assert not tasks.is_queue_in_database()
