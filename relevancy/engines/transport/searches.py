"""Many searches in parallel, each as a request of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from relevancy.engines.errors import EngineError
from relevancy.engines.types import Connection, Page, Request

from .client import HttpClient
from .concurrency import in_parallel


def search_in_parallel(
    jobs: Iterable[tuple[int, Request]],
    search: Callable[[Request], Page],
    *,
    connection: Connection,
    client: HttpClient,
    stop: Callable[[], bool],
) -> Iterator[tuple[int, Page | EngineError]]:
    """Yields (index, page or error) for each (index, request) as results arrive, within the limits of the connection."""

    def work(job: tuple[int, Request]) -> tuple[int, Page | EngineError]:
        index, request = job
        try:
            return index, search(request)
        except EngineError as error:
            return index, error

    return in_parallel(jobs, work, parallel=connection.parallel, stop=stop, before=client.rate_limit.wait)
