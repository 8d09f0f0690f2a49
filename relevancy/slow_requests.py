"""Slow requests wait for another server, read a file or run a script. They leave half of the threads of a web process to all others."""

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

READING_SECONDS = 20.0  # after which a page stops to read a file
READING_TOO_LONG = (
    f"Reading this file took longer than {READING_SECONDS:g} seconds, so it was stopped, and nothing of it was stored. "
    "Split the file, or ask an administrator of this site to import it with a command."
)


class Busy(Exception):
    """Too many requests of this process are slow. The message is written for users."""

    def __init__(self) -> None:
        super().__init__(
            "Too many pages are waiting for search engines, files or scripts at the moment. Try again in a few seconds."
        )


class _Thread(threading.local):
    is_slow = False
    deadline = math.inf


_thread = _Thread()


@contextmanager
def slow_request(threads: int, *, seconds: float = math.inf) -> Iterator[None]:
    """A context manager for what may take long. Raises `Busy` at once if this many threads of the process are within it.

    A thread that is within it already takes no second place. seconds: after which `is_late` is true.
    """
    if _thread.is_slow:
        yield
        return
    slots = _slots(threads)
    if not slots.acquire(blocking=False):
        raise Busy
    _thread.is_slow, _thread.deadline = True, time.monotonic() + seconds
    try:
        yield
    finally:
        _thread.is_slow, _thread.deadline = False, math.inf
        slots.release()


def is_late() -> bool:
    """Returns whether this thread works on a request whose time is over; never in a command or a worker."""
    return time.monotonic() > _thread.deadline


@lru_cache(maxsize=8)
def _slots(number: int) -> threading.BoundedSemaphore:
    return threading.BoundedSemaphore(number)
