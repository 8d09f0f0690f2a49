"""What the app adds to tests that cover the whole site; see tests/optional.py."""

from typing import Any
from uuid import UUID

from django.utils import timezone

from relevancy.models import Case, Run, User
from relevancy.optional.background_work.models import WorkerProcess

# tests/views/test_access_matrix.py
PAGES = """
address                method role    status
background_work        GET    admin   200
background_task_again  POST   admin   302
"""


def make_objects(case: Case, run: Run, other: Run) -> dict[str, UUID]:
    """The id of a task by its name in addresses; no task has it, which is no error."""
    return {"task_id": UUID(int=0)}


def make_rows(case: Case, run: Run, rater: User) -> Any:
    """One row of every model."""
    now = timezone.now()
    return WorkerProcess.objects.create(host="worker-1", pid=7, started_at=now, seen_at=now)


def grow(case: Case) -> None:
    """One more row of every model."""
    now = timezone.now()
    WorkerProcess.objects.create(host="worker-2", pid=8, started_at=now, seen_at=now)
