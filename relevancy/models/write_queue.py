"""Lets raters write one after another on SQLite, in the order in which they came."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from django.db import OperationalError, connection

try:
    import fcntl
except ImportError:  # Windows: the raters of each process queue
    fcntl = None  # type: ignore[assignment]

PAUSE_SECONDS = 0.05
MAX_WAIT = 5.0  # seconds for the other threads of this process; a locked database must not take all of them
_THREADS = Lock()


@contextmanager
def write_turn() -> Iterator[None]:
    """Waits until no other rater of this machine writes. Does nothing on other databases, and within a transaction.

    SQLite has one writer at a time, and lets the others try again after growing pauses: under load, the newest request may be
    served first, and some wait for seconds. The kernel's file locks are served in order.

    Raises `OperationalError` if another thread of this process is waiting for the database, for longer than `MAX_WAIT`.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        yield
        return
    if not _THREADS.acquire(timeout=MAX_WAIT):
        raise OperationalError(f"Other ratings have been waiting to be written for {MAX_WAIT:g} s.")
    try:
        with _process_turn():
            yield
    finally:
        _THREADS.release()


def write_pause(since: float | None = None) -> None:
    """Lets raters write between two bulk writes: waits until `PAUSE_SECONDS` have passed, since a time of `time.monotonic` if one is
    given. Does nothing on other databases, and within a transaction."""
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        time.sleep(PAUSE_SECONDS if since is None else max(0.0, since + PAUSE_SECONDS - time.monotonic()))


@contextmanager
def _process_turn() -> Iterator[None]:
    path = str(connection.settings_dict["NAME"])
    if fcntl is None or ":memory:" in path or "mode=memory" in path:
        yield
        return
    descriptor = os.open(f"{path}.raters", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)  # releases the lock
