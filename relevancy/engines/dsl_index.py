"""Indices of Elasticsearch and of OpenSearch: one query language, one set of addresses, two products.

The adapters hold a `DslIndex`; it holds what differs between the products as data (`Product`) and a `Caller` that sends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol
from urllib.parse import quote

from .addresses import Address
from .answers import explain_tree
from .base import Connection, Hit, Page, Request
from .dsl_answers import (
    Body,
    by_id,
    checked_item,
    is_field,
    no_search_templates,
    own_message,
    read_hit,
    source_filter,
    total_and_hits,
)
from .dsl_batches import Batches, Outcome
from .dsl_request import Asked, asked_of
from .errors import BadQuery, EndpointRefused, EndpointUnreachable, EngineError, UnreadableAnswer
from .fields import FieldSpec
from .http import HttpClient
from .many import in_parallel

BATCH = 100
EXAMPLE_URL = "http://localhost:9200/products"
EXAMPLE_TEMPLATE = '{"query": {"multi_match": {"query": "#$query##", "fields": ["title^2", "description"]}}}'
_LOOKUP_BATCH = 500
_ENDINGS = ("_search", "_msearch")
_NO_MATCH: Mapping[str, Any] = {"value": 0.0, "description": "no match", "details": []}


class Caller(Protocol):
    """A product's own client. Raises members of `EngineError` and nothing else."""

    def perform(self, method: str, path: str, body: Any = None, *, lines: bool = False) -> Any:
        """The JSON of an answer. `path` is below the address's prefix; `lines`: a list, sent one item to a line."""

    def close(self) -> None:
        """Give back what it holds."""


@dataclass(frozen=True)
class Product:
    """`longest`: the product's name for how many characters of a field it highlights."""

    name: str
    longest: str
    open_caller: Callable[[HttpClient, Address, str, str], Caller]  # client, address, prefix, what messages call it


class DslIndex:
    """One index, alias, or comma-separated list of them. `url` may end in `/_search`."""

    def __init__(self, connection: Connection, product: Product) -> None:
        address = connection.rules.read(connection.url)
        prefix, index = prefix_and_index(address)
        self._product = product
        self._parallel = connection.parallel
        self._index = "/" + quote(index, safe=",*-_.<>{}+%")
        self._where = f"{address.base}{prefix}{self._index}"
        self._client = HttpClient(connection, address, own_message)
        self._caller = product.open_caller(self._client, address, prefix, self._where)

    def search(self, request: Request) -> Page:
        """As `Engine.search`."""
        self._client.pace.wait()
        return self._search(request)

    def search_many(self, requests: Sequence[Request], *, stop: Callable[[], bool]) -> Iterator[Outcome]:
        """As `Engine.search_many`, a hundred queries to a request."""
        halted = False

        def stopped() -> bool:
            nonlocal halted
            halted = halted or stop()
            return halted

        # Two batches under way, so that the engine searches while an answer is read; together they hold to the limit.
        lanes = min(2, self._parallel)
        # Where requests per minute are limited each query counts, so each is its own request.
        if self._client.pace.limited or len(requests) <= BATCH:
            lanes = 1
        batches = Batches(
            requests,
            size=1 if self._client.pace.limited else BATCH,
            asked=self._asked,
            msearch=partial(self._msearch, at_once=self._parallel // lanes),
            page=self._page_of_item,
        )
        for outcomes in in_parallel(batches.jobs(), batches.ask, parallel=lanes, ahead=3, stop=stopped):
            yield from outcomes
        yield from in_parallel(
            batches.alone,
            self._ask_alone,
            parallel=self._parallel,
            stop=stopped,
            before=self._client.pace.wait,
        )

    def lookup(self, ids: Sequence[str], fields: FieldSpec) -> list[Hit]:
        """As `Engine.lookup`."""
        found: dict[str, Hit] = {}
        wanted = list(dict.fromkeys(ids))
        for begin in range(0, len(wanted), _LOOKUP_BATCH):
            batch = wanted[begin : begin + _LOOKUP_BATCH]
            body = {"query": by_id(fields.id, batch), "size": len(batch), "_source": source_filter(fields)}
            self._client.pace.wait()
            for raw in self._raws(body):
                doc = read_hit(raw, fields)
                found.setdefault(doc.id, Hit(doc.id, None, doc.fields))
        return [found[doc_id] for doc_id in wanted if doc_id in found]

    def explain(self, request: Request, doc_id: str) -> Mapping[str, Any]:
        """As `Engine.explain`. A search template is filled in first."""
        body = dict(self.filled(request)["body"])
        one = by_id(request.fields.id, [doc_id])
        # A post_filter changes no score and, unlike the explain API, works for aliases, rescoring and any id field.
        own = body.get("post_filter")
        body["post_filter"] = {"bool": {"filter": [own, one]}} if own else one
        body |= {"explain": True, "from": 0, "size": 1, "_source": False, "track_total_hits": False}
        for part in ("aggs", "aggregations", "highlight", "suggest"):
            body.pop(part, None)
        self._client.pace.wait()
        raws = self._raws(body)
        if raws and isinstance(raws[0].get("_explanation"), dict):
            return explain_tree(raws[0]["_explanation"])
        return self._explain_absent(body, one, doc_id)

    def fields(self) -> list[str]:
        """As `Engine.fields`."""
        self._client.pace.wait()
        answer = self._perform("GET", self._index + "/_field_caps?fields=*")
        caps = answer.get("fields")
        if not isinstance(caps, dict):
            raise UnreadableAnswer(f"{self._where}/_field_caps answered without “fields”.")
        return sorted(name for name, types in caps.items() if isinstance(types, dict) and is_field(name, types))

    def version(self) -> str:
        """As `Engine.version`."""
        self._client.pace.wait()
        self._perform("POST", self._index + "/_search", {"size": 0, "track_total_hits": False})
        try:
            answer = self._perform("GET", "/")
        except EndpointRefused:
            return self._product.name  # allowed to search, not to see the cluster
        version = answer.get("version")
        number = version.get("number") if isinstance(version, dict) else None
        return f"{self._product.name} {number}" if isinstance(number, str) else self._product.name

    def render(self, request: Request) -> Mapping[str, Any]:
        """As `Engine.render`."""
        return self._sent(self._asked(request))

    def filled(self, request: Request) -> Mapping[str, Any]:
        """As `Engine.filled`: of a search template, the body that the server makes of it."""
        asked = self._asked(request)
        if not asked.template:
            return self._sent(asked)
        self._client.pace.wait()
        with no_search_templates(self._product.name):
            body = self._perform("POST", "/_render/template", asked.body).get("template_output")
        if not isinstance(body, dict):
            raise UnreadableAnswer(f"{self._where} did not render the search template.")
        return self._sent(Asked(body))

    def close(self) -> None:
        """As `Engine.close`."""
        self._caller.close()
        self._client.close()

    def _search(self, request: Request) -> Page:
        asked = self._asked(request)
        try:
            return self._ask(request, asked)
        except BadQuery:
            if "highlight" not in asked.body or not request.highlight:
                raise
        # Perhaps the highlighting was refused, not the query: then the ranking counts, without marks.
        plain = replace(request, highlight=False)
        return self._ask(plain, self._asked(plain))

    def _ask(self, request: Request, asked: Asked) -> Page:
        began = time.perf_counter()
        with no_search_templates(self._product.name, expected=asked.template):
            answer = self._perform("POST", f"{self._index}/{asked.verb}", asked.body)
        return self._page(request, asked, answer, round((time.perf_counter() - began) * 1000))

    def _ask_alone(self, job: tuple[int, Request]) -> Outcome:
        index, request = job
        try:
            return index, self._search(request)
        except EngineError as error:
            return index, error

    def _page_of_item(self, request: Request, asked: Asked, item: dict[str, Any]) -> Page:
        with no_search_templates(self._product.name, expected=asked.template):
            checked_item(item, self._where)
        return self._page(request, asked, item, item.get("took"))

    def _msearch(self, asked: list[Asked], *, at_once: int) -> list[dict[str, Any]]:
        """The answers in order, `at_once` of them searched side by side. Search templates have an address of their own."""
        answers: dict[int, dict[str, Any]] = {}
        for template in (False, True):
            places = [place for place, one in enumerate(asked) if one.template == template]
            if not places:
                continue
            lines = [line for place in places for line in ({}, asked[place].body)]
            verb = "_msearch/template" if template else "_msearch"
            with no_search_templates(self._product.name, expected=template):
                target = f"{self._index}/{verb}?max_concurrent_searches={at_once}"
                items = self._perform("POST", target, lines, lines=True).get("responses")
            if not isinstance(items, list) or len(items) != len(places) or not all(isinstance(i, dict) for i in items):
                raise UnreadableAnswer(f"{self._where}/{verb} did not answer each of {len(places)} queries.")
            answers |= zip(places, items, strict=True)
        return [answers[place] for place in range(len(asked))]

    def _explain_absent(self, body: Body, one: Body, doc_id: str) -> Mapping[str, Any]:
        """Why a document does not match, for which only the explain API has words."""
        self._client.pace.wait()
        raws = self._raws({"query": one, "size": 1, "_source": False})
        if not raws:
            raise BadQuery(f"{self._product.name} has no document with the id “{doc_id}” to explain.")
        if "query" not in body and ("knn" in body or "retriever" in body):
            return {**_NO_MATCH, "description": "not among the documents that the request retrieves"}
        self._client.pace.wait()
        index, real_id = quote(str(raws[0].get("_index")), safe=""), quote(str(raws[0].get("_id")), safe="")
        query = body.get("query", {"match_all": {}})
        tree = self._perform("POST", f"/{index}/_explain/{real_id}", {"query": query}).get("explanation")
        return explain_tree(tree) if isinstance(tree, dict) else _NO_MATCH

    def _asked(self, request: Request) -> Asked:
        return asked_of(request, self._product.longest)

    def _sent(self, asked: Asked) -> Mapping[str, Any]:
        return {"method": "POST", "url": f"{self._where}/{asked.verb}", "body": asked.body}

    def _page(self, request: Request, asked: Asked, answer: Mapping[str, Any], took: Any) -> Page:
        total, raws = total_and_hits(answer, self._where)
        return Page(
            hits=tuple([read_hit(raw, request.fields, highlight=request.highlight) for raw in raws]),
            total=total,
            took_ms=took if isinstance(took, int) else 0,
            sent=self._sent(asked),
        )

    def _raws(self, body: Body) -> list[dict[str, Any]]:
        return total_and_hits(self._perform("POST", self._index + "/_search", body), self._where)[1]

    def _perform(self, method: str, path: str, body: Any = None, *, lines: bool = False) -> Mapping[str, Any]:
        answer = self._caller.perform(method, path, body, lines=lines)
        if not isinstance(answer, Mapping):
            raise UnreadableAnswer(f"{self._where} did not answer with a JSON object.")
        return answer


def prefix_and_index(address: Address) -> tuple[str, str]:
    """Path before the index (empty, or beginning with a slash) and the index, of an address such as `…/products`."""
    segments = [segment for segment in address.path.split("/") if segment]
    if segments and segments[-1] in _ENDINGS:
        segments.pop()
    if not segments or segments[-1].startswith("_"):
        raise EndpointUnreachable(f"“{address}” names no index.", todo=f"An address looks like {EXAMPLE_URL}.")
    return "".join(f"/{segment}" for segment in segments[:-1]), segments[-1]
