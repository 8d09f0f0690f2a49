"""Many searches in few requests, and which of them must be sent alone after all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from relevancy.engines.base import Outcome
from relevancy.engines.errors import BadQuery, EngineError, TooSlow, UnreadableResponse
from relevancy.engines.types import Page, Request

from .request import ElasticRequest

Job = tuple[int, Request]


class Batches:
    """Searches in batches of `size` for `_msearch`. When all batches were sent, `alone` contains the remaining searches.

    One query that cannot be parsed fails its whole batch, and many responses together may be too slow or too large although
    each one is not: the searches of such a batch go to `alone`, and so does a rejected search with highlighting.
    """

    def __init__(
        self,
        requests: Sequence[Request],
        *,
        size: int,
        convert: Callable[[Request], ElasticRequest],
        msearch: Callable[[list[ElasticRequest]], list[dict[str, Any]]],
        read_page: Callable[[Request, ElasticRequest, dict[str, Any]], Page],
    ) -> None:
        self.alone: list[Job] = []
        self._requests = requests
        self._size = size
        self._convert = convert
        self._msearch = msearch
        self._read_page = read_page
        self._is_useful = size > 1

    def jobs(self) -> Iterator[list[Job]]:
        """Yields the batches as long as batches prove useful; then the rest goes to `alone`."""
        for start in range(0, len(self._requests), self._size):
            jobs = list(enumerate(self._requests[start : start + self._size], start))
            if self._is_useful and len(jobs) > 1:
                yield jobs
            else:
                self.alone += jobs

    def send(self, jobs: list[Job]) -> list[Outcome]:
        """Returns pages and errors of one batch, without the searches that went to `alone`."""
        outcomes: list[Outcome] = []
        sent: list[tuple[int, Request, ElasticRequest]] = []
        for index, request in jobs:
            try:
                sent.append((index, request, self._convert(request)))
            except EngineError as error:
                outcomes.append((index, error))
        if not sent:
            return outcomes
        try:
            items = self._msearch([elastic_request for _, _, elastic_request in sent])
        except (BadQuery, TooSlow, UnreadableResponse) as error:
            self._is_useful = self._is_useful and isinstance(error, BadQuery)
            self.alone += [(index, request) for index, request, _ in sent]
            return outcomes
        except EngineError as error:
            return outcomes + [(index, error) for index, _, _ in sent]
        for (index, request, elastic_request), item in zip(sent, items, strict=True):
            try:
                outcomes.append((index, self._read_page(request, elastic_request, item)))
            except EngineError as error:
                if request.highlight and isinstance(error, BadQuery):
                    self.alone.append((index, request))  # the highlighting may have been rejected, not the query
                else:
                    outcomes.append((index, error))
        return outcomes
