"""Many queries in few requests, and which of them must be asked alone after all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from .base import Page, Request
from .elasticsearch_answers import Body, JsonObject
from .errors import BadQuery, EngineError, TooSlow, UnreadableAnswer

Job = tuple[int, Request]
Outcome = tuple[int, Page | EngineError]


class Batches:
    """Requests in batches of `size`, for `_msearch`. When all batches are asked, `alone` holds those still to be asked.

    One query that cannot be parsed fails its whole batch, and many answers together may be too slow or too large where
    each alone is not; what was in such a batch goes to `alone`.
    """

    def __init__(
        self,
        requests: Sequence[Request],
        *,
        size: int,
        body: Callable[[Request], Body],
        msearch: Callable[[list[Body]], list[JsonObject]],
        page: Callable[[Request, Body, JsonObject], Page],
    ) -> None:
        self.alone: list[Job] = []
        self._requests = requests
        self._size = size
        self._body = body
        self._msearch = msearch
        self._page = page
        self._useful = size > 1

    def jobs(self) -> Iterator[list[Job]]:
        """The batches, as long as batches prove useful."""
        for begin in range(0, len(self._requests), self._size):
            jobs = list(enumerate(self._requests[begin : begin + self._size], begin))
            if self._useful and len(jobs) > 1:
                yield jobs
            else:
                self.alone += jobs

    def ask(self, jobs: list[Job]) -> list[Outcome]:
        """Pages and errors of one batch, or nothing where its requests went to `alone`."""
        outcomes: list[Outcome] = []
        asked: list[tuple[int, Request, Body]] = []
        for index, request in jobs:
            try:
                asked.append((index, request, self._body(request)))
            except EngineError as error:
                outcomes.append((index, error))
        if not asked:
            return outcomes
        try:
            items = self._msearch([body for _, _, body in asked])
        except (BadQuery, TooSlow, UnreadableAnswer) as error:
            self._useful = self._useful and isinstance(error, BadQuery)
            self.alone += [(index, request) for index, request, _ in asked]
            return outcomes
        except EngineError as error:
            return outcomes + [(index, error) for index, _, _ in asked]
        for (index, request, body), item in zip(asked, items, strict=True):
            try:
                outcomes.append((index, self._page(request, body, item)))
            except EngineError as error:
                outcomes.append((index, error))
        return outcomes
