"""Lets raters write one after another on SQLite, in the order in which they came."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from django.db import connection

try:
    import fcntl
except ImportError:  # Windows: the raters of each process queue
    fcntl = None  # type: ignore[assignment]

_THREADS = Lock()


@contextmanager
def write_turn() -> Iterator[None]:
    """Waits until no other rater of this machine writes. Does nothing on other databases, and within a transaction.

    SQLite has one writer at a time, and lets the others try again after growing pauses: under load, the newest request may be
    served first, and some wait for seconds. The kernel's file locks are served in order.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        yield
        return
    with _THREADS, _process_turn():
        yield


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
