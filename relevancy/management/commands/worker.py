"""The background worker: runs the task backend's worker, and finds runs whose worker has died."""

import logging
import threading
import time
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandParser
from django.db import Error, connection
from django.tasks import DEFAULT_TASK_BACKEND_ALIAS, DEFAULT_TASK_QUEUE_NAME, TaskResultStatus
from django.utils.crypto import get_random_string
from django_tasks_db.management.commands import db_worker
from django_tasks_db.models import DBTaskResult

from relevancy import tasks
from relevancy.management.command import Command as Base
from relevancy.management.command import fail

MIN_PAUSE, MAX_PAUSE = 1.0, 30.0  # seconds, after an error of the database
LONGEST_WAIT = 5.0  # seconds; then the connection to the database is checked
FORGET_SECONDS = 3_600.0  # between two deletions of the records of finished tasks
STABLE_SECONDS = 60.0  # a worker that has run for so long begins with the shortest pause again
log = logging.getLogger("relevancy.worker")


class Command(Base):
    help = "Executes searches and scoring in the background until it is stopped."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--interval", type=float, default=0.05, help="seconds between two looks at an empty queue")
        parser.add_argument("--batch", action="store_true", help="end when the queue is empty")

    def run(self, **options: Any) -> None:
        backend = str(settings.TASKS["default"]["BACKEND"]).rpartition(".")[2]
        if backend not in {"DatabaseBackend", "CeleryBackend"}:
            fail("RELEVANCY_TASKS=immediate executes tasks when they are created; a worker would have nothing to do.")
        sweep_once()
        if not options["batch"]:
            threading.Thread(target=_sweep_periodically, daemon=True).start()
        if backend == "CeleryBackend":
            from django_tasks_fennel.app import app  # noqa: PLC0415 (an optional dependency)

            # One task at a time; several workers are several processes.
            app.worker_main(["worker", "--queues", "default", "--pool", "solo", "--loglevel", "warning"])
            return
        _run_database_worker(interval=options["interval"], batch=options["batch"], verbosity=options["verbosity"])


def _run_database_worker(*, interval: float, batch: bool, verbosity: int) -> None:
    """Runs the worker of django-tasks-db until the queue is empty, waits for a task, and runs it again; with `batch`, once.

    A batch waits for tasks that are to begin later. Waiting reads the queue without a lock, so it can look often; the worker itself
    locks the whole of an SQLite database with each look. After an error of the database this function waits and goes on, except with
    `batch`.
    """
    # It reports each of its starts and ends as INFO; tasks have a logger of their own.
    db_worker.logger.setLevel((logging.CRITICAL, logging.WARNING, logging.INFO)[min(verbosity, 2)])
    worker = db_worker.Worker(
        queue_names=[DEFAULT_TASK_QUEUE_NAME],
        interval=0,
        batch=True,
        backend_name=DEFAULT_TASK_BACKEND_ALIAS,
        startup_delay=False,
        max_tasks=None,
        worker_id=get_random_string(32),
        excluded_queue_names=[],
    )
    worker.configure_signals()
    pause = MIN_PAUSE
    while worker.running:
        started = time.monotonic()
        try:
            worker.run()
            if not worker.running or (batch and not has_tasks()):
                return
            wait_for_task(interval)
        except Error as error:
            if batch:
                raise
            if time.monotonic() - started > STABLE_SECONDS:
                pause = MIN_PAUSE
            reason = " ".join(str(error).split())
            log.error("The database cannot be used: %s. The worker tries again in %g s.", reason, pause)
            connection.close()
            time.sleep(pause)
            pause = min(2 * pause, MAX_PAUSE)


def has_tasks() -> bool:
    """Returns whether tasks wait for a worker, those that are to begin later included."""
    waiting = DBTaskResult.objects.filter(status=TaskResultStatus.READY)
    return waiting.filter(backend_name=DEFAULT_TASK_BACKEND_ALIAS, queue_name=DEFAULT_TASK_QUEUE_NAME).exists()


def wait_for_task(interval: float) -> None:
    """Returns when a task is ready, or after `LONGEST_WAIT`. Looks every `interval` seconds; each look is one SQL statement."""
    ready = DBTaskResult.objects.ready().filter(
        backend_name=DEFAULT_TASK_BACKEND_ALIAS, queue_name=DEFAULT_TASK_QUEUE_NAME
    )
    until = time.monotonic() + LONGEST_WAIT
    while not ready.exists() and time.monotonic() < until:
        time.sleep(interval)


def sweep_once() -> None:
    """Triggers runs that no worker is executing. Logs errors: a database failure must not end the worker."""
    try:
        count = tasks.sweep()
    except Exception:
        log.exception("Looking for abandoned runs failed; the next attempt is in %s s.", tasks.SWEEP_SECONDS)
    else:
        if count:
            log.info("Triggered %s abandoned runs.", count)


def forget_finished_tasks() -> None:
    """Deletes what the database keeps of finished tasks after a day, and of failed ones after a month. Celery keeps nothing."""
    if not tasks.is_queue_in_database():
        return
    try:
        call_command("prune_db_task_results", min_age_days=1, failed_min_age_days=30, verbosity=0)
    except Error:
        log.exception("The records of finished tasks could not be deleted; the next attempt is in an hour.")


def _sweep_periodically() -> None:
    pause = threading.Event()
    forgot_at = -FORGET_SECONDS
    while not pause.wait(tasks.SWEEP_SECONDS):
        sweep_once()
        if time.monotonic() - forgot_at >= FORGET_SECONDS:
            forget_finished_tasks()
            forgot_at = time.monotonic()
        connection.close()
