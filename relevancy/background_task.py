"""The decorator of background tasks: logs how each of them ended, with the id of the request that enqueued it."""

import logging
import time
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.tasks import Task, task

from relevancy import events, logs

log = logging.getLogger("relevancy.tasks")


def background_task(*, priority: int = 0) -> Callable[[Callable[..., None]], Task[..., None]]:
    """Makes a background task of a function, which gets what it is enqueued with.

    `enqueue(…, reference=logs.request_id())` lets its lines in the log carry the id of the present request.
    """

    def decorate(function: Callable[..., None]) -> Task[..., None]:
        @wraps(function)
        def run(*args: Any, reference: str = "") -> None:
            with logs.within_request(reference):
                _run(function, args)

        return task(priority=priority)(run)

    return decorate


def _run(function: Callable[..., None], args: tuple[Any, ...]) -> None:
    ids = [value for value in args if isinstance(value, int)]  # others may be addresses of people
    fields: dict[str, Any] = {"task": function.__name__, "ids": ids}
    text = " ".join([function.__name__, *map(str, ids)])
    started = time.perf_counter()
    try:
        function(*args)
    except Exception:
        fields |= {"outcome": "failed", "seconds": round(time.perf_counter() - started, 3)}
        log.exception("%s failed after %s s", text, fields["seconds"], extra={"fields": fields})
        raise
    else:
        fields |= {"outcome": "done", "seconds": round(time.perf_counter() - started, 3)}
        log.info("%s done in %s s", text, fields["seconds"], extra={"fields": fields})
    finally:
        seconds = time.perf_counter() - started
        events.record("task", seconds, task=function.__name__, outcome=fields.get("outcome", "ended"))
