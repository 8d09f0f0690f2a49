"""The embedded engine: tantivy, an index in a folder of this machine. Needs no server."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any, ClassVar

import tantivy

from .base import Abilities, Engine, Hit, Page, Request
from .embedded_build import build_index
from .embedded_highlight import Highlighter
from .embedded_index import OpenIndex, open_index
from .embedded_query import Plan, plan
from .errors import BadQuery, EngineError
from .fields import FieldSpec
from .templates import Syntax

__all__ = ["EmbeddedEngine", "build_index"]


class EmbeddedEngine(Engine):
    """Searches one index. Opens it anew for each request (0.3 ms), so a rebuilt index is seen at once."""

    key: ClassVar[str] = "embedded"
    label: ClassVar[str] = "Embedded (tantivy)"
    syntax: ClassVar[Syntax] = "json"
    abilities: ClassVar[Abilities] = Abilities(explain=True, lookup=True, highlight=True)
    example_url: ClassVar[str] = "movies"
    example_template: ClassVar[str] = (
        '{\n  "query": "#$query##",\n  "fields": {"title": ##title_boost##, "overview": 1},\n  "tie": 0.1\n}'
    )

    def search(self, request: Request) -> Page:
        return self._ask(self._open(), request)

    def search_many(
        self, requests: Sequence[Request], *, stop: Callable[[], bool] = lambda: False
    ) -> Iterator[tuple[int, Page | EngineError]]:
        """One after the other: tantivy holds the interpreter, more threads are slower. All see one state of the index."""
        index: OpenIndex | None = None
        for number, request in enumerate(requests):
            if stop():
                return
            try:
                index = index or self._open()
                answer: Page | EngineError = self._ask(index, request)
            except EngineError as error:
                answer = error
            yield number, answer

    def lookup(self, ids: Sequence[str], fields: FieldSpec) -> list[Hit]:
        index = self._open()
        addresses = (index.find(doc_id) for doc_id in ids)
        return [_hit(index.document(address), None, fields) for address in addresses if address is not None]

    def explain(self, request: Request, doc_id: str) -> Mapping[str, Any]:
        index = self._open()
        address = index.find(doc_id)
        if address is None:
            raise BadQuery(f"The index “{self.connection.url}” has no document with the id “{doc_id}”.")
        wanted = plan(_body(request), index.description)
        try:
            wanted.query.explain(index.searcher, address)
        except ValueError:
            return {"value": 0.0, "description": "the query does not match this document", "details": []}
        tree = wanted.parts.explain(index.searcher, address) if wanted.parts else None
        return tree or {"value": 1.0, "description": "every document", "details": []}

    def fields(self) -> list[str]:
        return sorted(self._open().description.fields)

    def version(self) -> str:
        self._open()
        return f"tantivy {version('tantivy')}"

    def render(self, request: Request) -> Mapping[str, Any]:
        return {"index": self.connection.url, "body": _body(request), "start": request.start, "rows": request.rows}

    def _open(self) -> OpenIndex:
        return open_index(self.connection.data_dir, self.connection.url)

    def _ask(self, index: OpenIndex, request: Request) -> Page:
        started = time.perf_counter()
        sent = self.render(request)
        wanted = plan(sent["body"], index.description)
        try:
            found, total = _find(index, wanted, request.start, request.rows)
        except ValueError as error:
            raise BadQuery(f"tantivy refused the query: {error}.") from error
        hits = [_hit(index.document(address), score, request.fields) for score, address in found]
        if request.highlight and hits:
            marker = Highlighter(index, sent["body"], request.fields)
            hits = [replace(hit, highlights=marker.highlights(hit.fields)) for hit in hits]
        return Page(tuple(hits), total, round((time.perf_counter() - started) * 1000), sent)


def _body(request: Request) -> Any:
    return request.template.render(
        query=request.query, options=request.options, knobs=request.knobs, escape=request.escape
    )


def _find(index: OpenIndex, wanted: Plan, start: int, rows: int) -> tuple[list[tuple[float, tantivy.DocAddress]], int]:
    """The hits from place `start`, with their scores, and how many match in all."""
    everything = max(index.searcher.num_docs, 1)
    result: Any  # its type stub leaves `count` out
    if wanted.sort:
        result = index.searcher.search(wanted.query, everything)
        return _sorted(index, wanted, result.hits)[start : start + rows], result.count
    if rows < 1 or start >= everything:
        result = index.searcher.search(wanted.query, 1)
        return [], result.count
    result = index.searcher.search(wanted.query, min(rows, everything), offset=start)
    return result.hits, result.count


def _sorted(
    index: OpenIndex, wanted: Plan, hits: list[tuple[float, tantivy.DocAddress]]
) -> list[tuple[float, tantivy.DocAddress]]:
    """Hits by the sort keys, those without a value last, equal ones by score and then by id."""
    order = list(range(len(hits)))
    for name, descending in reversed(wanted.sort):
        if name == "_score":
            values: Sequence[float | None] = [score for score, _ in hits]
        else:
            column = index.description.columns[name]
            values = index.searcher.fast_field_values(column, [address for _, address in hits])
        order.sort(key=lambda place: _sort_key(values[place], descending))
    return [hits[place] for place in order]


def _sort_key(value: float | None, descending: bool) -> tuple[bool, float]:
    if value is None:
        return True, 0.0
    return False, -value if descending else value


def _hit(doc: Mapping[str, Any], score: float | None, fields: FieldSpec) -> Hit:
    return Hit(fields.id_of(doc), score, fields.pick(doc))
