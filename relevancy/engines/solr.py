"""Solr 8.11 and 9, asked through `pysolr`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from .addresses import Address
from .answers import explain_tree, read_json
from .base import Abilities, Connection, Engine, Hit, Page, Request
from .errors import BadQuery, EndpointRefused, EndpointUnreachable, EngineError
from .fields import FieldSpec
from .http import HttpClient
from .many import in_parallel
from .solr_answers import first_tree, own_message, product, read_hit, snippets_of, total_and_docs
from .solr_client import open_solr
from .solr_params import Pairs, field_list
from .solr_request import ANSWER_FORM, Asked, asked_of, search_of

__all__ = ["SolrEngine", "core_and_handler", "own_message"]

_LOOKUP_BATCH = 500
_SEPARATOR = "\x1f"  # in no document id, so ids with commas and blanks need no escaping


class SolrEngine(Engine):
    """One core or collection. `url` may end in a request handler (`…/solr/products/browse`); the default is `select`.

    A template that begins with a brace is a request of the JSON Request API and goes out as JSON.
    """

    key = "solr"
    label = "Solr"
    syntax = "params"
    abilities: ClassVar[Abilities] = Abilities(explain=True, lookup=True, highlight=True)
    example_url = "http://localhost:8983/solr/products"
    example_template = "q=#$query##&defType=edismax&qf=title^2 description&tie=0.1"

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        address = connection.rules.read(connection.url)
        core, self._handler = core_and_handler(address)
        self._root = core.rpartition("/")[0]
        self._core = address.base + core
        self._where = f"{self._core}/{self._handler}"
        self._client = HttpClient(connection, address, own_message)
        self._solr = open_solr(self._core, self._client)

    def search(self, request: Request) -> Page:
        self._client.pace.wait()
        return self._search(request)

    def search_many(
        self, requests: Sequence[Request], *, stop: Callable[[], bool] = lambda: False
    ) -> Iterator[tuple[int, Page | EngineError]]:
        def ask(job: tuple[int, Request]) -> tuple[int, Page | EngineError]:
            index, request = job
            try:
                return index, self._search(request)
            except EngineError as error:
                return index, error

        return in_parallel(
            enumerate(requests),
            ask,
            parallel=self.connection.parallel,
            stop=stop,
            before=self._client.pace.wait,
        )

    def lookup(self, ids: Sequence[str], fields: FieldSpec) -> list[Hit]:
        found: dict[str, Hit] = {}
        wanted = list(dict.fromkeys(ids))
        for begin in range(0, len(wanted), _LOOKUP_BATCH):
            batch = wanted[begin : begin + _LOOKUP_BATCH]
            self._client.pace.wait()
            pairs = [
                ("q", f"{{!terms f={_quoted(fields.id)} separator='{_SEPARATOR}' v=$wanted}}"),
                ("wanted", _SEPARATOR.join(batch)),
                # A handler with another default parser would not read the local parameters above.
                ("defType", "lucene"),
                ("fl", field_list(fields)),
                ("rows", str(len(batch))),
                *ANSWER_FORM,
            ]
            for doc in total_and_docs(self._ask(Asked(pairs)), self._where)[1]:
                hit = read_hit(doc, fields)
                found.setdefault(hit.id, Hit(hit.id, None, hit.fields))
        return [found[doc_id] for doc_id in wanted if doc_id in found]

    def explain(self, request: Request, doc_id: str) -> Mapping[str, Any]:
        one = f"{{!term f={_quoted(request.fields.id)}}}{doc_id}"
        fixed: Pairs = [
            ("debug", "results"),
            ("debug.explain.structured", "true"),
            ("fl", request.fields.id),
            *ANSWER_FORM,
        ]
        asked = asked_of(request).plus(*fixed)
        self._client.pace.wait()
        # A filter changes no score, and works across shards, where explainOther does not.
        answer = self._ask(asked.plus(("fq", one), ("rows", "1")))
        tree = first_tree(answer.get("debug"), "explain")
        if tree is None:
            self._client.pace.wait()
            answer = self._ask(asked.plus(("explainOther", one), ("rows", "0")))
            tree = first_tree(answer.get("debug"), "explainOther")
        if tree is None:
            raise BadQuery(f"Solr has no document with the id “{doc_id}” to explain.")
        return explain_tree(tree)

    def fields(self) -> list[str]:
        self._client.pace.wait()
        try:
            text = self._solr.get("admin/luke?numTerms=0&wt=json")
            names = list(read_json(text, self._core).get("fields") or ())
        except EngineError:
            names = []
        if not names:  # an empty index, or a Solr that keeps Luke to itself
            text = self._solr.get("schema/fields?wt=json")
            declared = read_json(text, self._core).get("fields")
            names = [str(entry.get("name")) for entry in declared or () if isinstance(entry, dict)]
        return sorted(names)

    def version(self) -> str:
        self._client.pace.wait()
        try:
            return product(read_json(self._solr.get("admin/system?wt=json"), self._core), self._core)
        except EndpointRefused:
            if not self._search_allowed():
                raise
        except EndpointUnreachable as error:
            if error.status != 404:
                raise
            self._probe()  # says so if the core itself is missing
        try:
            answer = self._client.send("GET", f"{self._root}/admin/info/system?wt=json")
            return product(read_json(answer.body.decode("utf-8", "replace"), self._core), self._core)
        except EngineError:
            return "Solr"  # it answers searches and keeps its version to itself

    def render(self, request: Request) -> Mapping[str, Any]:
        return self._sent(search_of(request))

    def close(self) -> None:
        self._client.close()

    def _search(self, request: Request) -> Page:
        try:
            return self._page(request)
        except BadQuery:
            if not request.highlight:
                raise
        # Perhaps the highlighting was refused, not the query: then the ranking counts, without marks.
        return self._page(replace(request, highlight=False))

    def _page(self, request: Request) -> Page:
        asked = search_of(request)
        began = time.perf_counter()
        answer = self._ask(asked)
        took = round((time.perf_counter() - began) * 1000)
        total, docs = total_and_docs(answer, self._where)
        snippets = snippets_of(answer, docs) if request.highlight else [None] * len(docs)
        hits = tuple(read_hit(doc, request.fields, found) for doc, found in zip(docs, snippets, strict=True))
        return Page(hits=hits, total=total, took_ms=took, sent=self._sent(asked))

    def _sent(self, asked: Asked) -> Mapping[str, Any]:
        return {"method": "POST", "url": self._where, **asked.sent}

    def _ask(self, asked: Asked) -> dict[str, Any]:
        try:
            if asked.body is not None:
                text = self._solr.post_json(self._handler, asked.body)
            else:
                text = self._solr.post(self._handler, asked.pairs or [])
        except UnicodeEncodeError as error:
            raise BadQuery(
                "The query contains half of a character (a lone surrogate), which cannot be sent."
            ) from error
        return read_json(text, self._where)

    def _probe(self) -> None:
        self._ask(Asked([("q", "*:*"), ("defType", "lucene"), ("rows", "0"), *ANSWER_FORM]))

    def _search_allowed(self) -> bool:
        try:
            self._probe()
        except EngineError:
            return False
        return True


def core_and_handler(address: Address) -> tuple[str, str]:
    """Path of the core, and its request handler, of an address such as `…/solr/products` or `…/solr/products/select`."""
    segments = [segment for segment in address.path.split("/") if segment]
    below = segments.index("solr") + 1 if "solr" in segments else len(segments) - 1
    if segments[-1:] in (["select"], ["query"]):
        below = min(below, len(segments) - 2)
    if not segments or below < 0 or below >= len(segments):
        raise EndpointUnreachable(
            f"“{address}” names no core or collection.", todo=f"An address looks like {SolrEngine.example_url}."
        )
    handler = "/".join(segments[below + 1 :]) or "select"
    if handler.partition("/")[0] in _WRITING_HANDLERS:
        raise EndpointUnreachable(f"“{address}” ends in Solr's handler “{handler}”, which is not for searching.")
    return "/" + "/".join(segments[: below + 1]), handler


_WRITING_HANDLERS = frozenset(
    {"admin", "config", "dataimport", "export", "get", "replication", "schema", "sql", "stream", "update"}
)


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
