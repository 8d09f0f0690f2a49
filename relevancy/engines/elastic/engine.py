"""The adapter for Elasticsearch and OpenSearch. Each product is a subclass, which says what differs."""

from __future__ import annotations

import json
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import batched
from math import ceil
from pkgutil import resolve_name
from typing import Any, ClassVar, Literal
from urllib.parse import quote, urlencode

from relevancy.engines.base import Outcome
from relevancy.engines.errors import BadQuery, EndpointRefused, EngineError, TooSlow, UnreadableResponse
from relevancy.engines.explanations import left_out, no_match
from relevancy.engines.fields.specs import FieldSpec
from relevancy.engines.fields.values import object_at, value_at
from relevancy.engines.http_engine import HttpEngine
from relevancy.engines.names import is_plain_name
from relevancy.engines.templates.template import Template, parse_template
from relevancy.engines.transport.concurrency import in_parallel
from relevancy.engines.types import (
    SEARCH_ENGINE,
    AddressField,
    Connection,
    Hit,
    Interpretation,
    Page,
    Request,
    WeightedClause,
)

from .addresses import EXAMPLE, prefix_and_index
from .loading import load
from .references import check_body, needs_rendering
from .request import Body, ElasticRequest, elastic_request, ids_query, source_filter
from .results import (
    check_item,
    clause_scores_of,
    error_message,
    explaining_missing_search_templates,
    is_field,
    profile_timings,
    read_hit,
    too_old_for_clause_scores,
    total_and_hits,
    validated_query,
)
from .sums import rescored_template
from .vocabulary import ELASTICSEARCH_NAMES, OPENSEARCH_NAMES

BATCH_SIZE = 100
_MAX_LANES = 4  # batches at a time
_RECORDS_AT_ONCE = 1_000
_SCROLL = "2m"
_RECORD_FIELDS = {
    "queries": (
        "query_id",
        "user_query",
        "query_response_hit_ids",
        "query_response_object_ids",
        "query_response_objects_ids",
    ),
    "events": ("query_id", "action_name", "event_attributes.object.object_id"),
}
_NO_MATCH: Mapping[str, Any] = no_match("no match")

Job = tuple[int, Request]


class ElasticEngine(HttpEngine):
    """One index, alias, or comma-separated list of them. The URL may end in `/_search`.

    `client`: path of the function that opens the product's client; the methods that are used here are those of both products.
        Only processes that use the product import its library, which takes as long as Django's start.
    `offset_parameter`: the product's name for how many characters of a field are highlighted.
    """

    client: ClassVar[str]
    offset_parameter: ClassVar[str]
    syntax = "json"
    abilities = replace(SEARCH_ENGINE, behaviour=True)
    address = AddressField(
        kind="url",
        label="Address of the index",
        help="The address of an index, an alias, or several of them separated by commas.",
        example=EXAMPLE,
    )
    default_id_field = "_id"
    recognizes_product = True
    example_clause = '{"match": {"title": "#$query##"}}'
    find_help = "Words that must all occur, or field:word, in the syntax of a query string."
    example_template = '{"query": {"multi_match": {"query": "#$query##", "fields": ["title^2", "description"]}}}'

    def __init__(self, connection: Connection) -> None:
        address = connection.rules.parse_url(connection.url)
        super().__init__(connection, address, error_message)
        prefix, index = prefix_and_index(address)
        self._index = index
        self._allowed_indexes = frozenset((*index.split(","), *connection.allowed_indexes))
        self._url = f"{address.base}{prefix}/{quote(index, safe=',-_.+')}"
        self._client: Any = resolve_name(self.client)(self._http, prefix)

    @classmethod
    def suggest_template(cls, fields: Sequence[str], options: Mapping[str, Any]) -> str:
        if not fields:
            return '{\n  "query": {\n    "simple_query_string": {"query": "#$query##"}\n  }\n}'
        boosted = ", ".join(
            json.dumps(f"{name}^##title_boost##" if not index else name, ensure_ascii=False)
            for index, name in enumerate(fields)
        )
        body = f'"query": "#$query##",\n      "fields": [{boosted}],\n      "tie_breaker": 0.1,\n      "lenient": true'
        return f'{{\n  "query": {{\n    "multi_match": {{\n      {body}\n    }}\n  }}\n}}'

    @classmethod
    def sum_template(cls, template: Template, clauses: Sequence[WeightedClause], *, window: int) -> str:
        """As `Engine.sum_template`: a `rescore` whose clauses have the weights as boosts."""
        return rescored_template(template, clauses, window=window)

    def search_many(
        self, requests: Sequence[Request], *, stop: Callable[[], bool] = lambda: False
    ) -> Iterator[Outcome]:
        """As `Engine.search_many`, a hundred searches to a request.

        One query that cannot be parsed fails its whole batch, and many responses together may be too slow or too large although
        each one is not: the searches of such a batch are sent alone, and so are those of the batches after one that was too much.
        """
        # Several batches at a time, so that the engine searches while responses are read; together they keep to the limit.
        parallel = self.connection.parallel
        lanes = min(max(parallel // 2, 2), parallel, _MAX_LANES, max(ceil(len(requests) / BATCH_SIZE), 1))
        # A limit of requests per minute counts every query, so each one is its own request.
        size = 1 if self._http.rate_limit.is_limited else BATCH_SIZE
        are_useful = True
        alone: list[Job] = []

        def batches() -> Iterator[Sequence[Job]]:
            for jobs in batched(enumerate(requests), size):
                if are_useful and len(jobs) > 1:
                    yield jobs
                else:
                    alone.extend(jobs)

        def search_batch(jobs: Sequence[Job]) -> tuple[list[Outcome], list[Job]]:
            nonlocal are_useful
            try:
                return self._search_batch(jobs, concurrent_searches=parallel // lanes)
            except (TooSlow, UnreadableResponse):
                are_useful = False
            except BadQuery:
                pass
            return [], list(jobs)

        for outcomes, left in in_parallel(batches(), search_batch, parallel=lanes, ahead=2, stop=stop):
            alone += left
            yield from outcomes
        yield from self._search_each(alone, stop)

    def _search_batch(self, jobs: Sequence[Job], *, concurrent_searches: int) -> tuple[list[Outcome], list[Job]]:
        """Returns the outcomes of a batch, and the searches that have to be sent alone. Raises if that is all of them."""
        outcomes: list[Outcome] = []
        alone: list[Job] = []
        sent: list[tuple[int, Request, ElasticRequest]] = []
        for index, request in jobs:
            try:
                converted = self._convert(request)
                self._check_template(converted)
                sent.append((index, request, converted))
            except EngineError as error:
                outcomes.append((index, error))
        try:
            items = self._msearch([converted for _, _, converted in sent], concurrent_searches)
        except (BadQuery, TooSlow, UnreadableResponse):
            raise
        except EngineError as error:
            return outcomes + [(index, error) for index, _, _ in sent], []
        for (index, request, converted), item in zip(sent, items, strict=True):
            try:
                with explaining_missing_search_templates(self.label, is_template=converted.is_template):
                    check_item(item, self._url)
                outcomes.append((index, self._page(request, converted, item, item.get("took"))))
            except EngineError as error:
                if request.highlight and isinstance(error, BadQuery):
                    alone.append((index, request))  # the highlighting may have been rejected, not the query
                else:
                    outcomes.append((index, error))
        return outcomes, alone

    def _msearch(self, requests: Sequence[ElasticRequest], concurrent_searches: int) -> list[dict[str, Any]]:
        """Returns the responses in order. Search templates have an API of their own."""
        responses: dict[int, dict[str, Any]] = {}
        for is_template, send in ((False, self._client.msearch), (True, self._client.msearch_template)):
            indexes = [index for index, request in enumerate(requests) if request.is_template == is_template]
            if not indexes:
                continue
            lines = [line for index in indexes for line in ({}, requests[index].body)]
            with explaining_missing_search_templates(self.label, is_template=is_template):
                response = send(index=self._index, body=lines, max_concurrent_searches=concurrent_searches)
            items = response.get("responses")
            if not isinstance(items, list) or len(items) != len(indexes) or not all(isinstance(i, dict) for i in items):
                raise UnreadableResponse(f"{self._url} did not return a response for each of {len(indexes)} searches.")
            responses |= zip(indexes, items, strict=True)
        return [responses[index] for index in range(len(requests))]

    def look_up(self, ids: Sequence[str], fields: FieldSpec) -> Iterable[Hit]:
        body = {"query": ids_query(fields.id, list(ids)), "size": len(ids), "_source": source_filter(fields)}
        self._http.rate_limit.wait()
        return (read_hit(raw, fields) for raw in self._raw_hits(body))

    def explain(self, request: Request, doc_id: str) -> Mapping[str, Any]:
        """As `Engine.explain`. The server fills in a search template first."""
        only_document = ids_query(request.fields.id, [doc_id])
        body = self._explain_body(request, only_document, rows=1)
        self._http.rate_limit.wait()
        return object_at(self._raw_hits(body), "_explanation") or self._explain_no_match(body, only_document, doc_id)

    def explain_many(self, request: Request, doc_ids: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        """As `Engine.explain_many`. The server fills in a search template first."""
        id_field = request.fields.id
        body = self._explain_body(request, ids_query(id_field, list(doc_ids)), rows=len(doc_ids))
        if id_field != "_id":
            body["_source"] = [id_field]
        self._http.rate_limit.wait()
        trees = ((raw, object_at(raw, "_explanation")) for raw in self._raw_hits(body))
        return {read_hit(raw, request.fields).id: tree for raw, tree in trees if tree}

    def clause_scores(
        self, clauses: Mapping[str, Request], doc_ids: Sequence[str]
    ) -> Mapping[str, Mapping[str, float]]:
        """As `Engine.clause_scores`, by named queries. Needs Elasticsearch 8.8 or OpenSearch 2.13."""
        if not clauses or not doc_ids:
            return {}
        fields = next(iter(clauses.values())).fields
        body: Body = {
            "size": len(doc_ids),
            "_source": [fields.id] if fields.id != "_id" else False,
            "track_total_hits": False,
            "query": {
                "bool": {
                    "filter": [ids_query(fields.id, list(doc_ids))],
                    # Around each query, because not every query can have a name.
                    "should": [
                        {"bool": {"must": [request.render()], "_name": name}} for name, request in clauses.items()
                    ],
                }
            },
        }
        check_body(body, self._allowed_indexes)
        self._http.rate_limit.wait()
        try:
            response = self._search_with_clause_scores(body)
        except BadQuery as error:
            if "include_named_queries_score" not in str(error):
                raise
            raise too_old_for_clause_scores(self.label) from error
        raw_hits = total_and_hits(response, self._url)[1]
        return {read_hit(raw, fields).id: clause_scores_of(raw, self.label) for raw in raw_hits}

    def _explain_body(self, request: Request, only_documents: Body, *, rows: int) -> Body:
        """Returns the search with explanations, limited to some documents.

        A post_filter does not change the score and, unlike the explain API, supports aliases, rescoring and any id field.
        """
        body = dict(self.expand_template(request)["body"])
        check_body(body, self._allowed_indexes)
        post_filter = body.get("post_filter")
        body["post_filter"] = {"bool": {"filter": [post_filter, only_documents]}} if post_filter else only_documents
        body |= {"explain": True, "from": 0, "size": rows, "_source": False, "track_total_hits": False}
        for key in ("aggs", "aggregations", "highlight", "suggest"):
            body.pop(key, None)
        return body

    def find(self, text: str, request: Request) -> Page:
        """As `Engine.find`: a query string in all fields, in which all words must occur. Accepts `field:word`."""
        body = {"query": {"query_string": {"query": "#$query##", "default_operator": "AND", "lenient": True}}}
        own = request.with_own_template(text or "*", parse_template(json.dumps(body), "json"))
        try:
            return self.search(own)
        except BadQuery:
            # The text is not in the syntax of a query string, such as “AC/DC”: it is searched as it is.
            return self.search(replace(own, escape=True))

    def interpret(self, request: Request) -> Interpretation:
        """As `Engine.interpret`. The server fills in a search template first."""
        body = dict(self.expand_template(replace(request, highlight=False))["body"])
        check_body(body, self._allowed_indexes)
        parts = []
        if "query" in body:
            for label, option in (("Parsed query", "explain"), ("Rewritten query", "rewrite")):
                self._http.rate_limit.wait()
                query = {"query": body["query"]}
                response = self._client.indices.validate_query(index=self._index, body=query, **{option: True})
                parts.append((label, validated_query(response)))
        if len({text for _, text in parts}) == 1:
            parts = parts[:1]
        body |= {"profile": True, "_source": False}
        self._http.rate_limit.wait()
        response = self._client.search(index=self._index, body=body)
        return Interpretation(tuple((label, text) for label, text in parts if text), profile_timings(response))

    def document_url(self, doc_id: str, fields: FieldSpec) -> str:
        query = urlencode({"q": f"{fields.id}:{json.dumps(doc_id, ensure_ascii=False)}", "size": 1})
        return f"{self._url}/_search?{query}"

    def fields(self) -> list[str]:
        self._http.rate_limit.wait()
        capabilities = self._field_caps().get("fields")
        if not isinstance(capabilities, dict):
            raise UnreadableResponse(f"{self._url}/_field_caps returned JSON without “fields”.")
        return sorted(name for name, types in capabilities.items() if isinstance(types, dict) and is_field(name, types))

    def version(self) -> str:
        self._http.rate_limit.wait()
        self._client.search(index=self._index, body={"size": 0, "track_total_hits": False})
        try:
            number = value_at(self._client.info(), "version.number")
        except EndpointRefused:
            return self.label  # searching is allowed, reading the cluster's version is not
        return f"{self.label} {number}" if isinstance(number, str) else self.label

    def render(self, request: Request) -> Mapping[str, Any]:
        return self._rendered(self._convert(request))

    def expand_template(self, request: Request) -> Mapping[str, Any]:
        """As `render`, but the server fills in a search template first."""
        converted = self._convert(request)
        if not converted.is_template:
            return self._rendered(converted)
        self._http.rate_limit.wait()
        return self._rendered(ElasticRequest(self._render_template(converted)))

    def _render_template(self, converted: ElasticRequest) -> Body:
        with explaining_missing_search_templates(self.label):
            body = self._client.render_search_template(body=converted.body).get("template_output")
        if not isinstance(body, dict):
            raise UnreadableResponse(f"{self._url} did not render the search template.")
        return body

    def _check_template(self, converted: ElasticRequest) -> None:
        """Checks what a search template becomes, where its text or parameters could refer to another index."""
        if converted.is_template and needs_rendering(converted.body):
            check_body(self._render_template(converted), self._allowed_indexes)

    def load_documents(self, documents: Iterable[Mapping[str, Any]], *, id_field: str = "id") -> int:
        """As `Engine.load_documents`. Creates the index, with one shard and dynamic mappings, if it does not exist."""
        loaded = list(documents)
        load(self._client, self._index, loaded, id_field)
        return len(loaded)

    def behaviour_records(
        self, kind: Literal["queries", "events"], *, since: datetime | None = None
    ) -> Iterator[Mapping[str, Any]]:
        """As `Engine.behaviour_records`. Scrolls, which every version can: `search_after` needs a unique field to sort by."""
        body: dict[str, Any] = {"size": _RECORDS_AT_ONCE, "sort": ["_doc"], "_source": list(_RECORD_FIELDS[kind])}
        if since is not None:
            body["query"] = {"range": {"timestamp": {"gte": since.isoformat()}}}
        scroll_id = None
        try:
            self._http.rate_limit.wait()
            response = self._client.search(index=f"ubi_{kind}", body=body, scroll=_SCROLL)
            while True:
                scroll_id = response.get("_scroll_id", scroll_id)
                raw_hits = total_and_hits(response, self._url)[1]
                for raw in raw_hits:
                    source = raw.get("_source")
                    yield source if isinstance(source, dict) else {}
                if not raw_hits or not isinstance(scroll_id, str):
                    return
                self._http.rate_limit.wait()
                response = self._client.scroll(body={"scroll": _SCROLL, "scroll_id": scroll_id})
        finally:
            if isinstance(scroll_id, str):
                with suppress(EngineError):  # it ends by itself after a while
                    self._client.clear_scroll(body={"scroll_id": scroll_id})

    def search_once(self, request: Request) -> Page:
        converted = self._convert(request)
        self._check_template(converted)
        started = time.perf_counter()
        send = self._client.search_template if converted.is_template else self._client.search
        with explaining_missing_search_templates(self.label, is_template=converted.is_template):
            response = send(index=self._index, body=converted.body)
        return self._page(request, converted, response, round((time.perf_counter() - started) * 1000))

    def _explain_no_match(self, body: Body, only_document: Body, doc_id: str) -> Mapping[str, Any]:
        """Returns why a document does not match, which only the explain API tells."""
        self._http.rate_limit.wait()
        raw_hits = self._raw_hits({"query": only_document, "size": 1, "_source": False})
        if not raw_hits:
            raise BadQuery(f"{self.label} has no document with the id “{doc_id}” to explain.")
        if "query" not in body and ("knn" in body or "retriever" in body):
            return no_match("not among the documents that the request retrieves")
        self._http.rate_limit.wait()
        index = str(raw_hits[0].get("_index"))
        if not is_plain_name(index.removeprefix(".")):  # those of data streams begin with a dot
            return _NO_MATCH
        query = {"query": body.get("query", {"match_all": {}})}
        response = self._client.explain(index=index, id=str(raw_hits[0].get("_id")), body=query)
        tree = object_at(response, "explanation")
        if not tree:
            return _NO_MATCH
        if response.get("matched") is not True:
            return {**tree, "match": False}
        return left_out(tree, self._what_leaves_out(body, only_document))

    def _what_leaves_out(self, body: Body, only_document: Body) -> str:
        """Returns the part of a request that leaves out a document although it matches the query."""
        # The body is that of `_explain_body`, which has added the document to the filter.
        own_filter = body["post_filter"].get("bool", {}).get("filter", [])[:-1] if "query" in body else []
        if own_filter and body["post_filter"] != only_document:
            self._http.rate_limit.wait()
            if not self._raw_hits({"query": body["post_filter"], "size": 1, "_source": False}):
                return f"post_filter {json.dumps(own_filter[0], ensure_ascii=False)}"
        if "min_score" in body:
            return f"min_score {body['min_score']}"
        return "another part of the request, such as collapse or rescore"

    def _convert(self, request: Request) -> ElasticRequest:
        converted = elastic_request(request, self.offset_parameter)
        check_body(converted.body, self._allowed_indexes)
        return converted

    def _rendered(self, converted: ElasticRequest) -> Mapping[str, Any]:
        return {"method": "POST", "url": f"{self._url}/{converted.api}", "body": converted.body}

    def _page(self, request: Request, converted: ElasticRequest, response: Mapping[str, Any], took: Any) -> Page:
        total, raw_hits = total_and_hits(response, self._url)
        return Page(
            hits=tuple([read_hit(raw, request.fields, highlight=request.highlight) for raw in raw_hits]),
            total=total,
            took_ms=took if isinstance(took, int) else 0,
            rendered_request=self._rendered(converted),
        )

    def _raw_hits(self, body: Body) -> list[dict[str, Any]]:
        return total_and_hits(self._client.search(index=self._index, body=body), self._url)[1]

    @abstractmethod
    def _search_with_clause_scores(self, body: Body) -> Any:
        """Returns the response to a search that reports the scores of named queries. The body cannot ask for them."""

    @abstractmethod
    def _field_caps(self) -> Any:
        """Returns what `_field_caps` says of all fields."""


class ElasticsearchEngine(ElasticEngine):
    """Elasticsearch 7.17, 8 and 9."""

    key = "elasticsearch"
    label = "Elasticsearch"
    client = "relevancy.engines.elastic.elasticsearch_client:open_client"
    offset_parameter = "max_analyzed_offset"
    vocabulary = ELASTICSEARCH_NAMES

    def _search_with_clause_scores(self, body: Body) -> Any:
        return self._client.search(index=self._index, body=body, include_named_queries_score=True)

    def _field_caps(self) -> Any:
        # The client's own method names the fields in the body, where servers 7.17 do not look for them.
        path = f"/{quote(self._index, safe=',')}/_field_caps?fields=*"
        return self._client.perform_request("GET", path, headers={"accept": "application/json"})


class OpenSearchEngine(ElasticEngine):
    """OpenSearch 2 and 3."""

    key = "opensearch"
    label = "OpenSearch"
    client = "relevancy.engines.elastic.opensearch_client:open_client"
    offset_parameter = "max_analyzer_offset"
    vocabulary = OPENSEARCH_NAMES

    def _search_with_clause_scores(self, body: Body) -> Any:
        return self._client.search(index=self._index, body=body, params={"include_named_queries_score": "true"})

    def _field_caps(self) -> Any:
        return self._client.field_caps(index=self._index, fields="*")
