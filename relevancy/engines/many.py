"""Asking many at once, and asking no more after one was told to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Event

_LOOK_AGAIN = 0.5  # seconds between two looks at `stop` while nothing comes back


class _Failed:
    def __init__(self, error: BaseException) -> None:
        self.error = error


def in_parallel[Job, Result](
    jobs: Iterable[Job],
    work: Callable[[Job], Result],
    *,
    parallel: int,
    stop: Callable[[], bool],
    before: Callable[[Event], None] = lambda halted: None,
    ahead: int = 8,
) -> Iterator[Result]:
    """Yield what `work` returns for each job, as it comes; at most `parallel` at once.

    Workers go on while the caller deals with what it got, until `ahead` × `parallel` jobs are handed out and not yet
    taken back. `stop` is called in the caller's thread only (it may ask a database). Once it was true no job is begun;
    what is under way is still yielded. `before` is called in the worker before each job and may wait; the event it gets
    is set when waiting has lost its point. An exception of `work` ends it all.
    """
    waiting = iter(jobs)
    done: SimpleQueue[Result | _Failed | None] = SimpleQueue()
    halted = Event()

    def turn(job: Job) -> None:
        try:
            before(halted)
            done.put(None if halted.is_set() else work(job))
        except BaseException as error:
            done.put(_Failed(error))

    def look() -> bool:
        if not halted.is_set() and stop():
            halted.set()
        return halted.is_set()

    out = 0
    with ThreadPoolExecutor(parallel, thread_name_prefix="engine") as pool:
        try:
            while True:
                while out < ahead * parallel and not look():
                    handed = [pool.submit(turn, job) for job in islice(waiting, 1)]
                    if not handed:
                        break
                    out += 1
                if not out:
                    return
                try:
                    result = done.get(timeout=_LOOK_AGAIN)
                except Empty:
                    look()
                    continue
                out -= 1
                if isinstance(result, _Failed):
                    raise result.error
                if result is not None:
                    yield result
        finally:
            halted.set()
