"""When a request is repeated, and after which delay. docs/decisions explains why urllib3 does not repeat it by itself."""

from __future__ import annotations

import random

from urllib3.exceptions import InvalidHeader, NewConnectionError, ProtocolError
from urllib3.util import Retry

from .response import Response

MAX_ATTEMPTS = 3
MAX_RETRY_AFTER = 10.0  # seconds; if an endpoint asks for more, its error is shown instead
_TRANSIENT_STATUS = frozenset({502, 503, 504})


def backoff(attempt: int) -> float:
    """Returns the delay after the `attempt`-th attempt (counted from 1) in seconds: 0.2, 0.4, 0.8 … times 0.5 to 1.

    The random factor keeps many clients from returning at the same moment.
    """
    return 0.2 * float(2 ** (attempt - 1)) * random.uniform(0.5, 1.0)


def delay_after_error(error: Exception, attempt: int) -> float | None:
    """Returns the delay after a failed connection, None if it must not be repeated.

    Repeats a refused connection and one that broke off. Does not repeat time-outs: they would take three times as long.
    """
    was_refused = isinstance(error, NewConnectionError) and isinstance(error.__cause__, ConnectionRefusedError)
    return backoff(attempt) if was_refused or isinstance(error, ProtocolError) else None


def delay_after_response(response: Response, attempt: int) -> float | None:
    """Returns the delay after a response, None if it must not be repeated: 429 only if it says when to try again."""
    if response.status != 429 and response.status not in _TRANSIENT_STATUS:
        return None
    try:
        seconds = Retry(0).parse_retry_after(response.headers["retry-after"])
    except (KeyError, InvalidHeader):
        return None if response.status == 429 else backoff(attempt)
    return seconds + random.uniform(0, 0.1) if seconds <= MAX_RETRY_AFTER else None
