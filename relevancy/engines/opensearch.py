"""OpenSearch 2 and 3, asked through its own client."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from .base import Abilities, Connection, Engine, Hit, Page, Request
from .dsl_batches import Outcome
from .dsl_index import EXAMPLE_TEMPLATE, EXAMPLE_URL, DslIndex, Product
from .fields import FieldSpec
from .opensearch_client import open_opensearch

PRODUCT = Product("OpenSearch", "max_analyzer_offset", open_opensearch)


class OpenSearchEngine(Engine):
    """One index, alias, or comma-separated list of them. `url` may end in `/_search`."""

    key = "opensearch"
    label = "OpenSearch"
    syntax = "json"
    abilities: ClassVar[Abilities] = Abilities(explain=True, lookup=True, highlight=True, templates=True)
    default_id_field = "_id"
    example_url = EXAMPLE_URL
    example_template = EXAMPLE_TEMPLATE

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._index = DslIndex(connection, PRODUCT)

    def search(self, request: Request) -> Page:
        return self._index.search(request)

    def search_many(
        self, requests: Sequence[Request], *, stop: Callable[[], bool] = lambda: False
    ) -> Iterator[Outcome]:
        return self._index.search_many(requests, stop=stop)

    def lookup(self, ids: Sequence[str], fields: FieldSpec) -> list[Hit]:
        return self._index.lookup(ids, fields)

    def explain(self, request: Request, doc_id: str) -> Mapping[str, Any]:
        return self._index.explain(request, doc_id)

    def fields(self) -> list[str]:
        return self._index.fields()

    def version(self) -> str:
        return self._index.version()

    def render(self, request: Request) -> Mapping[str, Any]:
        return self._index.render(request)

    def filled(self, request: Request) -> Mapping[str, Any]:
        return self._index.filled(request)

    def close(self) -> None:
        self._index.close()
