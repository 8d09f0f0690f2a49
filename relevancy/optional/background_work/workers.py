"""Signs of life of worker processes."""

import os
import socket
from datetime import timedelta

from django.utils import timezone

from .models import WorkerProcess

SILENT_AFTER = timedelta(
    seconds=60
)  # four signs of life are missing: the process has ended, or its machine is overloaded
FORGOTTEN_AFTER = timedelta(days=1)


_started_at = timezone.now()
_rows: dict[int, int] = {}  # by process id: a fork does not inherit the row


def record_sign_of_life() -> None:
    """Stores that this worker process is alive. Forgets those that have been silent for a day."""
    now, pid = timezone.now(), os.getpid()
    known = pid in _rows and WorkerProcess.objects.filter(pk=_rows[pid]).update(seen_at=now)
    if not known:
        row = WorkerProcess.objects.create(host=socket.gethostname(), pid=pid, started_at=_started_at, seen_at=now)
        _rows[pid] = row.pk
        WorkerProcess.objects.filter(seen_at__lt=now - FORGOTTEN_AFTER).delete()


def is_silent(worker: WorkerProcess) -> bool:
    """Returns whether a worker process has not given a sign of life for a minute."""
    return worker.seen_at < timezone.now() - SILENT_AFTER
