"""When a request is repeated, and after which delay. docs/decisions explains why urllib3 does not repeat it by itself.

See docs/decisions/0004.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from urllib3.exceptions import InvalidHeader, NewConnectionError, ProtocolError
from urllib3.util import Retry

from .response import Response


@dataclass(frozen=True)
class RetryPolicy:
    """How often a request is repeated.

    attempts: requests in all.
    max_retry_after: seconds; if a server asks for more, its error is shown instead.
    statuses: of responses that are repeated, besides 429 with `Retry-After`.
    first_delay: seconds before the second request without `Retry-After`; it doubles.
    """

    attempts: int = 3
    max_retry_after: float = 10.0
    statuses: frozenset[int] = frozenset({502, 503, 504})
    first_delay: float = 0.2


SEARCHES = RetryPolicy()


def backoff(attempt: int, first_delay: float = SEARCHES.first_delay) -> float:
    """Returns the delay after the `attempt`-th attempt (counted from 1) in seconds: 0.2, 0.4, 0.8 … times 0.5 to 1.

    The random factor keeps many clients from returning at the same moment.
    """
    return first_delay * float(2 ** (attempt - 1)) * random.uniform(0.5, 1.0)


def delay_after_error(error: Exception, attempt: int, policy: RetryPolicy = SEARCHES) -> float | None:
    """Returns the delay after a failed connection, None if it must not be repeated.

    Repeats a refused connection and one that broke off. Does not repeat time-outs: they would take three times as long.
    """
    was_refused = isinstance(error, NewConnectionError) and isinstance(error.__cause__, ConnectionRefusedError)
    return backoff(attempt, policy.first_delay) if was_refused or isinstance(error, ProtocolError) else None


def delay_after_response(response: Response, attempt: int, policy: RetryPolicy = SEARCHES) -> float | None:
    """Returns the delay after a response, None if it must not be repeated: 429 only if it says when to try again, unless the
    policy repeats it anyway."""
    if response.status != 429 and response.status not in policy.statuses:
        return None
    try:
        seconds = Retry(0).parse_retry_after(response.headers["retry-after"])
    except (KeyError, InvalidHeader):
        return backoff(attempt, policy.first_delay) if response.status in policy.statuses else None
    return seconds + random.uniform(0, 0.1) if seconds <= policy.max_retry_after else None
