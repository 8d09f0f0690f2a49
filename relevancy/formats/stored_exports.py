"""Files of large cases, runs and books: a worker makes them, because a page would not wait for them. See `Export.is_large`."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.utils import timezone
from django.utils.crypto import get_random_string

from relevancy.models import Book, Case, Run, StoredExport, User

from .exports import files_of

KEPT = timedelta(days=1)
DEAD_AFTER = timedelta(minutes=2)  # without progress
MAX_RESTARTS = 3
NOTE_SECONDS = 1.0  # between two notes of progress
UNEXPECTED_ERROR = "The file could not be made because of an unexpected error; the server log has the details."
LOST = "The worker that made the file has stopped unexpectedly, and so did those that tried again."
Status = StoredExport.Status
log = logging.getLogger("relevancy.exports")


class _TakenOver(Exception):
    """What is being made is deleted, or another worker makes it."""


def ask(*, row: Case | Run | Book, name: str, by: User, again: bool = False) -> tuple[StoredExport, bool]:
    """Returns the file that `by` has asked for, and whether the caller has to enqueue the task that makes it.

    again: whether one that is complete or has failed is made again.
    """
    field = str(row._meta.model_name)
    now = timezone.now()
    record, is_new = StoredExport.objects.get_or_create(
        key=f"{field} {row.pk} {name} {by.pk}", defaults={field: row, "name": name, "by": by, "progressed_at": now}
    )
    if is_new:
        return record, True
    is_lost = record.status == Status.COMPLETE and not path_of(record).exists()
    if not again and not is_lost:
        return record, False
    finished = StoredExport.objects.filter(pk=record.pk).exclude(status__in=StoredExport.UNFINISHED)
    is_reset = finished.update(
        status=Status.WAITING, claimed_by="", worker_restarts=0, done=0, total=0, error="", progressed_at=now
    )
    record.refresh_from_db()
    return record, bool(is_reset)


def folder() -> Path:
    """Returns where the files are. They are no part of a backup."""
    return Path(settings.DATA_DIR) / "exports"


def path_of(record: StoredExport) -> Path:
    """Returns where the complete file is. Nobody gets one that was made for a row of another database, such as before a restore."""
    return folder() / f"{record.pk}-{record.claimed_by}"


def make(export_id: int) -> None:
    """Makes a file that waits for a worker. If it fails, the row says why. May run twice, and at the same time."""
    record = _claim(export_id)
    if record is None:
        return
    own = StoredExport.objects.filter(pk=record.pk, claimed_by=record.claimed_by)
    error = ""
    try:
        _write(record)
    except _TakenOver:
        return
    except OSError as reason:
        log.exception("The file of %s could not be written.", record.key)
        error = f"The file could not be written: {reason.strerror or reason}. Tell an administrator of this site."
    except Exception:
        log.exception("The file of %s could not be made.", record.key)
        error = UNEXPECTED_ERROR
    now = timezone.now()
    if error:
        own.update(status=Status.FAILED, error=error, progressed_at=now)
    else:
        own.update(status=Status.COMPLETE, done=record.total, progressed_at=now)


def _claim(export_id: int) -> StoredExport | None:
    """Returns a waiting file, which is the caller's from now on. None if another worker has it."""
    now, token = timezone.now(), get_random_string(32)
    waiting = StoredExport.objects.filter(pk=export_id, status=Status.WAITING)
    if not waiting.update(status=Status.RUNNING, claimed_by=token, done=0, started_at=now, progressed_at=now):
        return None
    claimed = StoredExport.objects.select_related("case__book", "run__case__book", "book", "by")
    return claimed.filter(pk=export_id, claimed_by=token).first()


def _write(record: StoredExport) -> None:
    """Writes the file under another name, which is changed at the end: nobody sees a part of it."""
    export = files_of(type(record.row))[record.name]
    record.total = export.steps(record.row)
    StoredExport.objects.filter(pk=record.pk, claimed_by=record.claimed_by).update(total=record.total)
    path = path_of(record)
    path.parent.mkdir(parents=True, exist_ok=True)
    for former in path.parent.glob(f"{record.pk}-*"):
        former.unlink(missing_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    try:
        with partial.open("xb") as file:
            export.save(record.row, record.by, file, report=_note_progress(record))
        partial.replace(path)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _note_progress(record: StoredExport) -> Callable[[int], None]:
    """Returns a function that notes how much is done, once a second. It raises `_TakenOver`."""
    was_atomic, noted_at = connection.in_atomic_block, time.monotonic()

    def note(done: int) -> None:
        nonlocal noted_at
        if time.monotonic() - noted_at < NOTE_SECONDS:
            return
        if connection.in_atomic_block and not was_atomic:
            # A whole case is read in one transaction, which can write nothing: a thread has a connection of its own.
            with ThreadPoolExecutor(max_workers=1) as thread:
                is_own = thread.submit(_note_apart, record, done).result()
        else:
            is_own = _note(record, done)
        if not is_own:
            raise _TakenOver
        noted_at = time.monotonic()

    return note


def _note(record: StoredExport, done: int) -> bool:
    own = StoredExport.objects.filter(pk=record.pk, claimed_by=record.claimed_by)
    return bool(own.update(done=min(done, record.total), progressed_at=timezone.now()))


def _note_apart(record: StoredExport, done: int) -> bool:
    try:
        return _note(record, done)
    finally:
        connection.close()


def sweep() -> list[int]:
    """Returns the ids of files that a worker has to make: their worker has died, or their task may have been lost. Deletes files that
    are older than a day, and those whose case, run, book or user was deleted. One SQL statement if there is nothing to do."""
    files = list(folder().iterdir()) if folder().is_dir() else []  # before the rows, of which each file has one
    records = {record.pk: record for record in StoredExport.objects.all()}
    now, unmade = timezone.now(), []
    for pk, record in list(records.items()):
        same = StoredExport.objects.filter(pk=pk, status=record.status, progressed_at=record.progressed_at)
        if record.is_finished:
            if record.progressed_at < now - KEPT and same.delete()[0]:
                del records[pk]
        elif abs(now - record.progressed_at) > DEAD_AFTER:  # a time far ahead is of a clock that was wrong
            restarts = record.worker_restarts + (record.status == Status.RUNNING)
            if restarts > MAX_RESTARTS:
                same.update(status=Status.FAILED, claimed_by="", error=LOST, progressed_at=now)
            elif same.update(status=Status.WAITING, claimed_by="", worker_restarts=restarts, progressed_at=now):
                unmade.append(pk)
    for file in files:
        number = file.name.partition("-")[0]
        if not number.isdecimal() or int(number) not in records:
            with suppress(OSError):
                file.unlink(missing_ok=True)
    return unmade
