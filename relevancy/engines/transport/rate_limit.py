"""A limit of requests per minute to one endpoint."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_RESERVATIONS_PER_MINUTE = 240  # a quarter of a second's requests are reserved together


class RateLimit:
    """Spaces requests evenly, one every `60 / per_minute` seconds across all threads. 0 means no limit.

    `reserve` reserves so many successive requests in a schedule that several processes share, and returns the seconds until the first
    one; a negative number gives back requests that were reserved and not sent. Without it, the schedule is that of this object.
    """

    def __init__(
        self,
        per_minute: int,
        reserve: Callable[[int], float] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._interval = 60.0 / per_minute if per_minute > 0 else 0.0
        self._batch = max(1, per_minute // _RESERVATIONS_PER_MINUTE)
        self._reserve = reserve or self._reserve_here
        self._clock = clock
        self._lock = threading.Lock()
        self._next = 0.0
        self._reserved = 0
        self._end = 0.0  # of the schedule of this object

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit."""
        return self._interval > 0

    def wait(self, cancelled: threading.Event | None = None) -> None:
        """Blocks until the next request may be sent, or until `cancelled` is set; then no request may be sent."""
        if not self._interval:
            return
        cancelled = cancelled or threading.Event()
        with self._lock:  # while waiting, too: the other threads wait for the requests after this one
            if cancelled.is_set():
                return
            if not self._reserved:
                self._next = self._clock() + self._reserve(self._batch)
                self._reserved = self._batch
            if cancelled.wait(max(0.0, self._next - self._clock())):
                return
            self._next += self._interval
            self._reserved -= 1

    def close(self) -> None:
        """Gives back what was reserved and not sent."""
        with self._lock:
            if self._reserved:
                self._reserve(-self._reserved)
                self._reserved = 0

    def _reserve_here(self, count: int) -> float:
        now = self._clock()
        start = max(self._end, now)
        self._end = start + count * self._interval
        return start - now
