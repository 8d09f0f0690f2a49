"""The background worker: the task backend's own, and a sweep for runs whose worker died."""

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
    help = "Runs searches and rescoring in the background until it is stopped."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--interval", type=float, default=0.2, help="seconds between looks at an empty queue")
        parser.add_argument("--batch", action="store_true", help="end when nothing is left to do")

    def work(self, **options: Any) -> None:
        backend = str(settings.TASKS["default"]["BACKEND"]).rpartition(".")[2]
        if backend not in {"DatabaseBackend", "CeleryBackend"}:
            fail("RELEVANCY_TASKS=immediate runs tasks where they are made: there is nothing for a worker.")
        sweep_once()
        if not options["batch"]:
            threading.Thread(target=_sweep_for_ever, daemon=True).start()
        if backend == "CeleryBackend":
            _celery()
            return
        call_command(
            "db_worker",
            interval=options["interval"],
            batch=options["batch"],
            startup_delay=False,
            reload=False,
            verbosity=options["verbosity"],
        )


def _celery() -> None:
    """Celery's worker, one task at a time: several workers are several processes."""
    from django_tasks_fennel.app import app  # noqa: PLC0415 (an extra, there only where it was asked for)

    app.worker_main(["worker", "--queues", "default", "--pool", "solo", "--loglevel", "warning"])


def sweep_once() -> None:
    """Wake runs that nobody works on; a database that is away for a moment is no reason to end the worker."""
    try:
        woken = tasks.sweep()
    except Exception:
        log.exception("The sweep for stopped runs failed; it is tried again in %s s.", tasks.SWEEP_SECONDS)
    else:
        if woken:
            log.info("Woke %s runs that nobody was working on.", woken)


def _sweep_for_ever() -> None:
    pause = threading.Event()
    while not pause.wait(tasks.SWEEP_SECONDS):
        sweep_once()
        connection.close()
