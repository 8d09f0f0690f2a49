"""The worker outlives errors of the database."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import InterfaceError, OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django_tasks_db.management.commands import db_worker
from django_tasks_db.models import DBTaskResult, get_date_max

from relevancy import tasks
from relevancy.management.commands import worker

ERRORS = [
    OperationalError("database is locked"),
    OperationalError("disk is full"),
    InterfaceError("connection is closed"),
]


@pytest.fixture
def pauses(settings: Any, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses of the worker, which do not take time."""
    settings.TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
    seconds: list[float] = []
    monkeypatch.setattr(worker.time, "sleep", seconds.append)
    monkeypatch.setattr(worker, "_sweep_periodically", lambda: None)
    monkeypatch.setattr(db_worker.Worker, "configure_signals", lambda self: None)
    monkeypatch.setattr(tasks, "sweep", lambda: 0)
    return seconds


def failing(monkeypatch: pytest.MonkeyPatch, errors: list[Exception]) -> None:
    """Let each start of the worker raise the next of these errors; after the last it ends well."""
    left = [*errors]

    def run(self: Any) -> None:
        if left:
            raise left.pop(0)
        self.running = False

    monkeypatch.setattr(db_worker.Worker, "run", run)


@pytest.mark.django_db
def test_waits_and_goes_on(
    pauses: list[float], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failing(monkeypatch, ERRORS)
    call_command("worker")
    assert pauses == [1, 2, 4]
    messages = [record.getMessage() for record in caplog.records]
    assert messages[0] == "The database cannot be used: database is locked. The worker tries again in 1 s."
    assert len(messages) == 3


@pytest.mark.django_db
def test_pauses_are_bounded(pauses: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, ERRORS * 3)
    call_command("worker")
    assert pauses[-3:] == [30, 30, 30]


@pytest.mark.django_db
def test_a_batch_ends(pauses: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, ERRORS)
    with pytest.raises(CommandError, match="database is locked"):
        call_command("worker", "--batch")
    assert pauses == []


@pytest.mark.django_db
def test_a_worker_that_is_told_to_stop_does_not_start_again(
    pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(self: Any) -> None:
        self.running = False
        raise ERRORS[0]

    monkeypatch.setattr(db_worker.Worker, "run", run)
    call_command("worker")
    assert pauses == [1]


def _ready_task() -> None:
    DBTaskResult.objects.create(
        task_path="relevancy.tasks.run_chunk",
        args_kwargs={"args": [1], "kwargs": {}},
        priority=0,
        queue_name="default",
        backend_name="default",
        run_after=get_date_max(),
    )


@pytest.mark.django_db
def test_waits_until_a_task_is_ready(pauses: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            _ready_task()

    monkeypatch.setattr(worker.time, "sleep", sleep)
    with CaptureQueriesContext(connection) as looks:
        worker.wait_for_task(0.05)
    assert pauses == [0.05] * 3
    statements = [query["sql"] for query in looks if "INSERT" not in query["sql"]]
    assert len(statements) == 4
    assert all(sql.startswith("SELECT 1") and "FOR UPDATE" not in sql for sql in statements)


@pytest.mark.django_db
def test_waiting_ends_without_a_task(pauses: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the worker checks its connection to the database now and then."""
    clock = iter([0.0, 1.0, worker.LONGEST_WAIT + 1])
    monkeypatch.setattr(worker.time, "monotonic", lambda: next(clock))
    worker.wait_for_task(0.05)
    assert pauses == [0.05]


@pytest.mark.django_db
def test_worker_looks_again_after_each_task(pauses: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    def run(self: Any) -> None:
        self.running = len(waited) < 2

    monkeypatch.setattr(db_worker.Worker, "run", run)
    monkeypatch.setattr(worker, "wait_for_task", waited.append)
    call_command("worker")
    assert waited == [0.05, 0.05]


@pytest.mark.django_db
def test_records_of_finished_tasks_are_deleted_after_a_day_and_of_failed_ones_after_a_month(settings: Any) -> None:
    settings.TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
    ages = {"READY": (60,), "RUNNING": (60,), "SUCCESSFUL": (0, 2), "FAILED": (2, 31)}
    for status, days in ages.items():
        for age in days:
            result = tasks.rescore_book.using(backend="default").enqueue(1)
            at = timezone.now() - timedelta(days=age)
            finished_at = at if status in ("SUCCESSFUL", "FAILED") else None
            DBTaskResult.objects.filter(pk=result.id).update(status=status, enqueued_at=at, finished_at=finished_at)
    worker.forget_finished_tasks()
    left = Counter(DBTaskResult.objects.order_by().values_list("status", flat=True))
    assert left == {"READY": 1, "RUNNING": 1, "SUCCESSFUL": 1, "FAILED": 1}
