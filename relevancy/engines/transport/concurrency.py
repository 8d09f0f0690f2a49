"""Running many requests in threads, with a way to stop early."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Event

_STOP_CHECK_SECONDS = 0.25  # between two calls of `stop` while no result arrives


def in_parallel[Job, Result](
    jobs: Iterable[Job],
    work: Callable[[Job], Result | None],
    *,
    parallel: int,
    stop: Callable[[], bool],
    before: Callable[[Event], None] = lambda cancelled: None,
    ahead: int = 8,
) -> Iterator[Result]:
    """Yields what `work` returns for each job as results arrive, but None; runs at most `parallel` jobs at a time.

    While the caller handles a result, workers continue until `ahead` × `parallel` jobs were started and not yet yielded.
    `stop` is called only in the caller's thread, at least every quarter of a second while no result arrives, so it may query a
    database and send heartbeats. Once it returns True no further job starts; jobs in progress are still yielded, and until then
    `stop` is called on. `before` is called in the worker before each job and may block; its event is set as
    soon as the job is no longer wanted. An exception in `work` is raised here and ends the iteration.
    """
    remaining = iter(jobs)
    # `concurrent.futures.wait` would take and release a lock of every pending job for each result.
    done: SimpleQueue[Future[Result | None]] = SimpleQueue()
    pending = 0
    cancelled = Event()

    def run(job: Job) -> Result | None:
        before(cancelled)
        return None if cancelled.is_set() else work(job)

    def is_stopped() -> bool:
        if stop():
            cancelled.set()
        return cancelled.is_set()

    with ThreadPoolExecutor(parallel, thread_name_prefix="engine") as pool:
        try:
            while True:
                while pending < ahead * parallel and not is_stopped():
                    submitted = [pool.submit(run, job) for job in islice(remaining, 1)]
                    if not submitted:
                        break
                    pending += 1
                    submitted[0].add_done_callback(done.put)
                if not pending:
                    return
                try:
                    future = done.get(timeout=_STOP_CHECK_SECONDS)
                except Empty:
                    is_stopped()
                    continue
                pending -= 1
                if (result := future.result()) is not None:
                    yield result
        finally:
            cancelled.set()
