"""The background worker: runs the task backend's worker, and finds runs whose worker has died."""

import logging
import threading
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandParser
from django.db import connection

from relevancy import tasks
from relevancy.management.command import Command as Base
from relevancy.management.command import fail

log = logging.getLogger("relevancy.worker")


class Command(Base):
    help = "Executes searches and scoring in the background until it is stopped."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--interval", type=float, default=0.2, help="seconds between two looks at an empty queue")
        parser.add_argument("--batch", action="store_true", help="end when the queue is empty")

    def run(self, **options: Any) -> None:
        backend = str(settings.TASKS["default"]["BACKEND"]).rpartition(".")[2]
        if backend not in {"DatabaseBackend", "CeleryBackend"}:
            fail("RELEVANCY_TASKS=immediate executes tasks when they are created; a worker would have nothing to do.")
        sweep_once()
        if not options["batch"]:
            threading.Thread(target=_sweep_periodically, daemon=True).start()
        if backend == "CeleryBackend":
            _run_celery()
            return
        call_command(
            "db_worker",
            interval=options["interval"],
            batch=options["batch"],
            startup_delay=False,
            reload=False,
            verbosity=options["verbosity"],
        )


def _run_celery() -> None:
    """Runs Celery's worker with one task at a time; several workers are several processes."""
    from django_tasks_fennel.app import app  # noqa: PLC0415 (an optional dependency)

    app.worker_main(["worker", "--queues", "default", "--pool", "solo", "--loglevel", "warning"])


def sweep_once() -> None:
    """Triggers runs that no worker is executing. Logs errors: a database failure must not end the worker."""
    try:
        count = tasks.sweep()
    except Exception:
        log.exception("Looking for abandoned runs failed; the next attempt is in %s s.", tasks.SWEEP_SECONDS)
    else:
        if count:
            log.info("Triggered %s abandoned runs.", count)


def _sweep_periodically() -> None:
    pause = threading.Event()
    while not pause.wait(tasks.SWEEP_SECONDS):
        sweep_once()
        connection.close()
