"""No more than so many requests per minute to one endpoint."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Pace:
    """Spreads requests evenly: one each `60 / per_minute` seconds, whichever thread asks. 0 = no limit."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._gap = 60.0 / per_minute if per_minute > 0 else 0.0
        self._clock = clock
        self._lock = threading.Lock()
        self._next = 0.0

    @property
    def limited(self) -> bool:
        """Whether there is a limit at all."""
        return self._gap > 0

    def wait(self, halted: threading.Event | None = None) -> None:
        """Return when the next request may go out, or when `halted` is set: its turn is then lost."""
        if not self._gap:
            return
        with self._lock:
            turn = max(self._next, self._clock())
            self._next = turn + self._gap
        rest = turn - self._clock()
        if rest > 0:
            (halted or threading.Event()).wait(rest)
