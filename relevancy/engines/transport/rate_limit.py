"""A limit of requests per minute to one endpoint."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class RateLimit:
    """Spaces requests evenly, one every `60 / per_minute` seconds across all threads. 0 means no limit."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._interval = 60.0 / per_minute if per_minute > 0 else 0.0
        self._clock = clock
        self._lock = threading.Lock()
        self._next = 0.0

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit."""
        return self._interval > 0

    def wait(self, cancelled: threading.Event | None = None) -> None:
        """Blocks until the next request may be sent, or until `cancelled` is set, which forfeits the slot."""
        if not self._interval:
            return
        with self._lock:
            slot = max(self._next, self._clock())
            self._next = slot + self._interval
        delay = slot - self._clock()
        if delay > 0:
            (cancelled or threading.Event()).wait(delay)
