"""How many requests a token may send: a bucket per token that fills up steadily.

Counted in the memory of each web process, so that reading never waits for a write; see docs/decisions/0100.
"""

import math
import threading
import time
from collections.abc import Callable

MAX_BUCKETS = 10_000


class RateLimiter:
    """Counts requests by key. A key may send `per_minute` requests at once, and then as many per minute; 0 for no limit.

    clock: returns seconds.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[int, tuple[float, float]] = {}  # key: (requests left, time)

    def take(self, key: int) -> int:
        """Counts a request. Returns 0 if it is allowed, otherwise the seconds until one will be."""
        if not self._per_minute:
            return 0
        now, rate = self._clock(), self._per_minute / 60
        with self._lock:
            left, since = self._buckets.pop(key, (float(self._per_minute), now))
            left = min(float(self._per_minute), left + (now - since) * rate)
            is_allowed = left >= 1
            self._buckets[key] = (left - is_allowed, now)  # the key moves to the end
            if len(self._buckets) > MAX_BUCKETS:
                del self._buckets[next(iter(self._buckets))]
        return 0 if is_allowed else math.ceil((1 - left) / rate)
