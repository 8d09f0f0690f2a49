"""Background tasks by Celery. Only settings with `RELEVANCY_TASKS=celery` use this module."""

from typing import Any

from django.core import checks
from django_tasks_fennel import CeleryBackend as FennelBackend


class CeleryBackend(FennelBackend):  # type: ignore[misc]
    """Says nothing about what is meant: nobody reads the results of tasks, and Redis takes priorities as advice."""

    def check(self, **kwargs: Any) -> list[checks.CheckMessage]:
        return [message for message in super().check(**kwargs) if message.level >= checks.ERROR]
