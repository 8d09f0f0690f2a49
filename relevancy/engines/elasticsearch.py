"""Elasticsearch 7.17, 8 and 9, asked through its own client."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote

from elastic_transport import TransportError
from elasticsearch import ApiError, UnsupportedProductError

from .addresses import Address
from .answers import explain_tree
from .base import Abilities, Connection, Engine, Hit, Page, Request
from .elasticsearch_answers import (
    Body,
    by_id,
    checked_item,
    is_field,
    own_message,
    read_hit,
    source_filter,
    total_and_hits,
)
from .elasticsearch_batches import Batches, Outcome
from .elasticsearch_client import json_headers, open_client
from .errors import BadQuery, EndpointRefused, EndpointUnreachable, EngineError, UnreadableAnswer
from .fields import FieldSpec
from .http import HttpClient
from .many import in_parallel

__all__ = ["ElasticsearchEngine", "own_message", "prefix_and_index"]

BATCH = 100
_LOOKUP_BATCH = 500
_HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")
_ENDINGS = ("_search", "_msearch")


class ElasticsearchEngine(Engine):
    """One index, alias, or comma-separated list of them. `url` may end in `/_search`."""

    key = "elasticsearch"
    label = "Elasticsearch"
    syntax = "json"
    abilities: ClassVar[Abilities] = Abilities(explain=True, lookup=True)
    default_id_field = "_id"
    example_url = "http://localhost:9200/products"
    example_template = '{"query": {"multi_match": {"query": "#$query##", "fields": ["title^2", "description"]}}}'

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        address = connection.rules.read(connection.url)
        prefix, index = prefix_and_index(address)
        self._index = "/" + quote(index, safe=",*-_.<>{}+%")
        self._where = f"{address.base}{prefix}{self._index}"
        self._client = HttpClient(connection, address, own_message)
        self._elastic = open_client(self._client, address, prefix)

    def search(self, request: Request) -> Page:
        self._client.pace.wait()
        return self._search(request)

    def search_many(
        self, requests: Sequence[Request], *, stop: Callable[[], bool] = lambda: False
    ) -> Iterator[Outcome]:
        halted = False

        def stopped() -> bool:
            nonlocal halted
            halted = halted or stop()
            return halted

        # Where requests per minute are limited each query counts, so each is its own request.
        batches = Batches(
            requests,
            size=1 if self._client.pace.limited else BATCH,
            body=self._body,
            msearch=self._msearch,
            page=self._page_of_item,
        )
        for outcomes in in_parallel(batches.jobs(), batches.ask, parallel=1, ahead=2, stop=stopped):
            yield from outcomes
        yield from in_parallel(
            batches.alone,
            self._ask_alone,
            parallel=self.connection.parallel,
            stop=stopped,
            before=self._client.pace.wait,
        )

    def lookup(self, ids: Sequence[str], fields: FieldSpec) -> list[Hit]:
        found: dict[str, Hit] = {}
        wanted = list(dict.fromkeys(ids))
        for begin in range(0, len(wanted), _LOOKUP_BATCH):
            batch = wanted[begin : begin + _LOOKUP_BATCH]
            body = {"query": by_id(fields.id, batch), "size": len(batch), "_source": source_filter(fields)}
            self._client.pace.wait()
            for raw in total_and_hits(self._post("_search", body), self._where)[1]:
                doc = read_hit(raw, fields)
                found.setdefault(doc.id, Hit(doc.id, None, doc.fields))
        return [found[doc_id] for doc_id in wanted if doc_id in found]

    def explain(self, request: Request, doc_id: str) -> Mapping[str, Any]:
        body = self._body(request)
        one = by_id(request.fields.id, [doc_id])
        # A post_filter changes no score and, unlike the explain API, works for aliases, rescoring and any id field.
        own = body.get("post_filter")
        body["post_filter"] = {"bool": {"filter": [own, one]}} if own else one
        body |= {"explain": True, "from": 0, "size": 1, "_source": False, "track_total_hits": False}
        for part in ("aggs", "aggregations", "highlight", "suggest"):
            body.pop(part, None)
        self._client.pace.wait()
        raws = total_and_hits(self._post("_search", body), self._where)[1]
        if raws and isinstance(raws[0].get("_explanation"), dict):
            return explain_tree(raws[0]["_explanation"])
        return self._explain_absent(body.get("query", {"match_all": {}}), one, doc_id)

    def fields(self) -> list[str]:
        self._client.pace.wait()
        answer = self._perform("GET", "/_field_caps?fields=*")
        caps = answer.get("fields")
        if not isinstance(caps, dict):
            raise UnreadableAnswer(f"{self._where}/_field_caps answered without “fields”.")
        return sorted(name for name, types in caps.items() if isinstance(types, dict) and is_field(name, types))

    def version(self) -> str:
        self._client.pace.wait()
        self._perform("POST", "/_search", {"size": 0, "track_total_hits": False})
        try:
            answer = self._perform("GET", "", root=True)
        except EndpointRefused:
            return "Elasticsearch"  # allowed to search, not to see the cluster
        version = answer.get("version")
        number = version.get("number") if isinstance(version, dict) else None
        return f"Elasticsearch {number}" if isinstance(number, str) else "Elasticsearch"

    def render(self, request: Request) -> Mapping[str, Any]:
        return self._sent(self._body(request))

    def close(self) -> None:
        self._elastic.close()
        self._client.close()

    def _search(self, request: Request) -> Page:
        body = self._body(request)
        began = time.perf_counter()
        answer = self._post("_search", body)
        return self._page(request, body, answer, round((time.perf_counter() - began) * 1000))

    def _ask_alone(self, job: tuple[int, Request]) -> Outcome:
        index, request = job
        try:
            return index, self._search(request)
        except EngineError as error:
            return index, error

    def _page_of_item(self, request: Request, body: Body, item: dict[str, Any]) -> Page:
        return self._page(request, body, checked_item(item, self._where), item.get("took"))

    def _msearch(self, bodies: list[Body]) -> list[dict[str, Any]]:
        lines: list[Any] = []
        for body in bodies:
            lines += ({}, body)
        target = f"/_msearch?max_concurrent_searches={self.connection.parallel}"
        items = self._perform("POST", target, lines, many=True).get("responses")
        if not isinstance(items, list) or len(items) != len(bodies) or not all(isinstance(i, dict) for i in items):
            raise UnreadableAnswer(f"{self._where}/_msearch did not answer each of {len(bodies)} queries.")
        return items

    def _explain_absent(self, query: Any, one: Body, doc_id: str) -> Mapping[str, Any]:
        """Why a document does not match, for which only the explain API has words."""
        self._client.pace.wait()
        raws = total_and_hits(self._post("_search", {"query": one, "size": 1, "_source": False}), self._where)[1]
        if not raws:
            raise BadQuery(f"Elasticsearch has no document with the id “{doc_id}” to explain.")
        self._client.pace.wait()
        index, real_id = quote(str(raws[0].get("_index")), safe=""), quote(str(raws[0].get("_id")), safe="")
        answer = self._perform("POST", f"/{index}/_explain/{real_id}", {"query": query}, root=True)
        tree = answer.get("explanation")
        return (
            explain_tree(tree) if isinstance(tree, dict) else {"value": 0.0, "description": "no match", "details": []}
        )

    def _body(self, request: Request) -> Body:
        rendered = request.template.render(
            query=request.query, options=request.options, knobs=request.knobs, escape=request.escape
        )
        if _HALF_A_CHARACTER.search(request.query):
            raise BadQuery("The query contains half of a character (a lone surrogate), which cannot be sent.")
        if not isinstance(rendered, dict):
            raise BadQuery("The query template does not become a JSON object.", todo='Write {"query": …}.')
        body: Body = {name: value for name, value in rendered.items() if name not in ("explain", "profile")}
        body |= {"from": request.start, "size": request.rows, "_source": source_filter(request.fields)}
        body.setdefault("track_total_hits", True)
        return body

    def _sent(self, body: Body) -> Mapping[str, Any]:
        return {"method": "POST", "url": f"{self._where}/_search", "body": body}

    def _page(self, request: Request, body: Body, answer: Mapping[str, Any], took: Any) -> Page:
        total, raws = total_and_hits(answer, self._where)
        return Page(
            hits=tuple([read_hit(raw, request.fields) for raw in raws]),
            total=total,
            took_ms=took if isinstance(took, int) else 0,
            sent=self._sent(body),
        )

    def _post(self, verb: str, body: Body) -> Mapping[str, Any]:
        return self._perform("POST", f"/{verb}", body)

    def _perform(
        self, method: str, target: str, body: Any = None, *, many: bool = False, root: bool = False
    ) -> Mapping[str, Any]:
        """The JSON object of an answer. `target` is below the index, or with `root` below the address."""
        headers = {"accept": "application/json"} if body is None else json_headers(lines=many)
        path = (target or "/") if root else self._index + target
        try:
            answer = self._elastic.perform_request(method, path, headers=headers, body=body).body
        except UnsupportedProductError as error:
            raise UnreadableAnswer(
                f"{self._where} answers, but not as Elasticsearch does.",
                todo="Is this another product, such as OpenSearch?",
            ) from error
        except (ApiError, TransportError) as error:
            raise UnreadableAnswer(f"{self._where} answered in a way its client cannot read: {error}.") from error
        if not isinstance(answer, Mapping):
            raise UnreadableAnswer(f"{self._where} did not answer with a JSON object.")
        return answer


def prefix_and_index(address: Address) -> tuple[str, str]:
    """Path before the index (empty, or beginning with a slash) and the index, of an address such as `…/products`."""
    segments = [segment for segment in address.path.split("/") if segment]
    if segments and segments[-1] in _ENDINGS:
        segments.pop()
    if not segments or segments[-1].startswith("_"):
        raise EndpointUnreachable(
            f"“{address}” names no index.", todo=f"An address looks like {ElasticsearchEngine.example_url}."
        )
    return "".join(f"/{segment}" for segment in segments[:-1]), segments[-1]
