"""Many queries in few requests, and which of them must be asked alone after all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from .base import Page, Request
from .dsl_answers import JsonObject
from .dsl_request import Asked
from .errors import BadQuery, EngineError, TooSlow, UnreadableAnswer

Job = tuple[int, Request]
Outcome = tuple[int, Page | EngineError]


class Batches:
    """Requests in batches of `size`, for `_msearch`. When all batches are asked, `alone` holds those still to be asked.

    One query that cannot be parsed fails its whole batch, and many answers together may be too slow or too large where
    each alone is not; what was in such a batch goes to `alone`, and so does a refused query with highlights.
    """

    def __init__(
        self,
        requests: Sequence[Request],
        *,
        size: int,
        asked: Callable[[Request], Asked],
        msearch: Callable[[list[Asked]], list[JsonObject]],
        page: Callable[[Request, Asked, JsonObject], Page],
    ) -> None:
        self.alone: list[Job] = []
        self._requests = requests
        self._size = size
        self._asked = asked
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
        sent: list[tuple[int, Request, Asked]] = []
        for index, request in jobs:
            try:
                sent.append((index, request, self._asked(request)))
            except EngineError as error:
                outcomes.append((index, error))
        if not sent:
            return outcomes
        try:
            items = self._msearch([asked for _, _, asked in sent])
        except (BadQuery, TooSlow, UnreadableAnswer) as error:
            self._useful = self._useful and isinstance(error, BadQuery)
            self.alone += [(index, request) for index, request, _ in sent]
            return outcomes
        except EngineError as error:
            return outcomes + [(index, error) for index, _, _ in sent]
        for (index, request, asked), item in zip(sent, items, strict=True):
            try:
                outcomes.append((index, self._page(request, asked, item)))
            except EngineError as error:
                if request.highlight and isinstance(error, BadQuery):
                    self.alone.append((index, request))  # it may be the highlighting that was refused
                else:
                    outcomes.append((index, error))
        return outcomes
