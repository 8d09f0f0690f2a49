"""A thread of the process that works on a slow request."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from relevancy.slow_requests import slow_request


@contextmanager
def a_slow_request() -> Iterator[None]:
    """Another thread has the only place for slow requests, if the setting SLOW_THREADS is 1."""
    begun, ended = threading.Event(), threading.Event()

    def work() -> None:
        with slow_request(1):
            begun.set()
            ended.wait(60)

    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(60)
    try:
        yield
    finally:
        ended.set()
        thread.join()
