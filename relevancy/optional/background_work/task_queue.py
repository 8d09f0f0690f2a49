"""Background tasks that wait, work or have failed. Only the database as their queue can list them; Redis cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count
from django.tasks import TaskResultStatus
from django.utils import timezone
from django_tasks_db.models import DBTaskResult, get_date_max

MAX_LISTED = 50  # of each status


@dataclass(frozen=True)
class ListedTask:
    """A task as the page shows it.

    name, arguments: what it does, such as `run_chunk` and “12”. Texts are left out: they may be addresses of people.
    reference: the id in the log of the request that enqueued it.
    since: when it failed, began, or was enqueued. begins_at: of a task that is not due yet.
    reason: the last line of the traceback.
    """

    id: UUID
    name: str
    arguments: str
    reference: str
    since: datetime | None
    begins_at: datetime | None
    reason: str
    traceback: str


@dataclass(frozen=True)
class TaskList:
    """The tasks of one status: all of them are counted, some are listed."""

    count: int
    tasks: Sequence[ListedTask]


def task_lists() -> dict[str, TaskList]:
    """Returns the tasks that have `failed`, newest first, are `running`, oldest first, and are `waiting`, in their order."""
    rows = DBTaskResult.objects.order_by().values_list("status").annotate(Count("pk"))
    counts = dict(rows.exclude(status=TaskResultStatus.SUCCESSFUL))
    listed = {
        "failed": (TaskResultStatus.FAILED, DBTaskResult.objects.failed().order_by("-finished_at")),
        "running": (TaskResultStatus.RUNNING, DBTaskResult.objects.running().order_by("started_at")),
        "waiting": (TaskResultStatus.READY, DBTaskResult.objects.filter(status=TaskResultStatus.READY)),
    }
    return {
        name: TaskList(count, [_listed(task) for task in tasks[:MAX_LISTED]] if count else [])
        for name, (status, tasks) in listed.items()
        for count in [counts.get(status, 0)]
    }


def repeat(task_id: UUID) -> bool:
    """Lets a failed task wait for a worker again. Returns False if it has not failed, such as after a second click.

    Tasks get ids and may run more than once, so that repeating one does no harm.
    """
    failed = DBTaskResult.objects.filter(pk=task_id, status=TaskResultStatus.FAILED)
    now = timezone.now()
    return bool(
        failed.update(
            status=TaskResultStatus.READY,
            enqueued_at=now,
            run_after=get_date_max(),
            started_at=None,
            finished_at=None,
            exception_class_path="",
            traceback="",
        )
    )


def _listed(task: DBTaskResult) -> ListedTask:
    arguments = task.args_kwargs.get("args", [])
    lines = task.traceback.strip().splitlines()
    return ListedTask(
        id=task.pk,
        name=task.task_path.rpartition(".")[2],
        arguments=", ".join(str(value) for value in arguments if isinstance(value, int)),
        reference=str(task.args_kwargs.get("kwargs", {}).get("reference", "")),
        since=task.finished_at or task.started_at or task.enqueued_at,
        begins_at=task.run_after if timezone.now() < task.run_after < get_date_max() else None,
        reason=lines[-1] if lines else task.exception_class_path,
        traceback=task.traceback,
    )
