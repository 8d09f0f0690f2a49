"""What the adapters for engines that are asked over HTTP have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import batched
from typing import Any

from .base import Engine, Outcome
from .errors import BadQuery, EngineError
from .fields.specs import FieldSpec
from .transport.addresses import Address
from .transport.client import HttpClient
from .transport.concurrency import in_parallel
from .types import Connection, Hit, Page, Request

_LOOKUP_BATCH_SIZE = 500


class HttpEngine(Engine):
    """Searches through an `HttpClient`, within the limits of the connection. An adapter says what one search is.

    `error_message`: see `HttpClient`.
    """

    def __init__(self, connection: Connection, address: Address, error_message: Callable[[Any], str]) -> None:
        super().__init__(connection)
        self._http = HttpClient(connection, address, error_message)

    @abstractmethod
    def search_once(self, request: Request) -> Page:
        """Sends one search."""

    @abstractmethod
    def look_up(self, ids: Sequence[str], fields: FieldSpec) -> Iterable[Hit]:
        """Returns documents by id, at most `_LOOKUP_BATCH_SIZE`, in any order."""

    def search(self, request: Request) -> Page:
        self._http.rate_limit.wait()
        return self._search(request)

    def search_many(
        self, requests: Sequence[Request], *, stop: Callable[[], bool] = lambda: False
    ) -> Iterator[Outcome]:
        return self._search_each(enumerate(requests), stop)

    def lookup(self, ids: Sequence[str], fields: FieldSpec) -> list[Hit]:
        unique_ids = dict.fromkeys(ids)
        hits: dict[str, Hit] = {}
        for batch in batched(unique_ids, _LOOKUP_BATCH_SIZE):
            for hit in self.look_up(batch, fields):
                hits.setdefault(hit.id, Hit(hit.id, None, hit.fields))
        return [hits[doc_id] for doc_id in unique_ids if doc_id in hits]

    def abort(self) -> None:
        self._http.abort()

    def close(self) -> None:
        self._http.close()

    def _search_each(self, jobs: Iterable[tuple[int, Request]], stop: Callable[[], bool]) -> Iterator[Outcome]:
        """Yields the outcome of each (index, request), each one sent as a request of its own."""

        def work(job: tuple[int, Request]) -> Outcome:
            index, request = job
            try:
                return index, self._search(request)
            except EngineError as error:
                return index, error

        return in_parallel(jobs, work, parallel=self.connection.parallel, stop=stop, before=self._http.rate_limit.wait)

    def _search(self, request: Request) -> Page:
        try:
            return self.search_once(request)
        except BadQuery:
            if not request.highlight:
                raise
        # The engine may have rejected the highlighting, not the query: the ranking matters more than its highlights.
        return self.search_once(replace(request, highlight=False))
