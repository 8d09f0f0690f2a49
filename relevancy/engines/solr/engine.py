"""The adapter for Solr 8.11 and 9, which uses `pysolr`."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from relevancy.engines.errors import BadQuery, EndpointRefused, EndpointUnreachable, EngineError
from relevancy.engines.explanations import left_out
from relevancy.engines.fields.specs import FieldSpec
from relevancy.engines.fields.values import object_at, objects_at
from relevancy.engines.http_engine import HttpEngine
from relevancy.engines.names import check_names, check_prefix, is_plain_name, plain_segments
from relevancy.engines.templates.template import Template, parse_template
from relevancy.engines.transport.addresses import Address
from relevancy.engines.transport.response import read_json
from relevancy.engines.types import (
    SEARCH_ENGINE,
    AddressField,
    Connection,
    Hit,
    Interpretation,
    Page,
    Request,
    TemplateWarning,
    WeightedClause,
)

from .clauses import CLAUSE, clause_parameters, clause_scores_of, reranked_template
from .client import open_client
from .loading import load
from .parameters import VOCABULARY, field_list, misspelled_parameters, searched_fields
from .references import check_field_list, check_parameters
from .request import RESPONSE_FORMAT, SolrRequest, search_request, template_request
from .results import (
    error_message,
    explanations_of,
    first_explanation,
    highlights_of,
    interpretation_of,
    product_version,
    read_hit,
    total_and_documents,
)

_MAX_CHECKED_FILTERS = 10
_SEPARATOR = "\x1f"  # occurs in no document id, so ids with commas and blanks need no escaping
_JSON = {"content-type": "application/json; charset=utf-8"}
HANDLERS = ("select", "query")  # Solr's own search handlers
# They write, configure, administer, or run other programs than searches. No administrator can allow them.
_NOT_FOR_SEARCHING = frozenset(
    {
        "admin",
        "analysis",
        "blob",
        "config",
        "dataimport",
        "debug",
        "export",
        "get",
        "graph",
        "replication",
        "schema",
        "sql",
    }
    | {"stream", "update"}
)
_APIS = frozenset({"admin", "api", "cluster", "v2"})

# Pages of cores and of collections; those that begin with "~" are about the server, and only those of cores name one.
_ADMIN_PAGE = re.compile(
    r"(?P<root>https?://[^#?]+?)/*(?:/index\.html)?#/(?:~(?:cores|collections)/)?(?P<core>[^~/?#]+)(?:[/?].*)?$"
)


class SolrEngine(HttpEngine):
    """A core or collection. Its URL may end in a request handler that is allowed; the default is `select`.

    A template that begins with a brace is a request of the JSON Request API.
    """

    key = "solr"
    label = "Solr"
    syntax = "params"
    abilities = SEARCH_ENGINE
    address = AddressField(
        kind="url",
        label="Address of the core or collection",
        help="The core's address, optionally followed by /select or /query.",
        example="http://localhost:8983/solr/products",
    )
    example_clause = "{!edismax qf=title}#$query##"
    find_help = "Words that must all occur, or field:word, in the syntax of edismax."
    example_template = "q=#$query##\n&defType=edismax\n&qf=title^2 description\n&tie=0.1"
    vocabulary = VOCABULARY
    searches_all_fields = False
    recognizes_product = True

    def __init__(self, connection: Connection) -> None:
        address = connection.rules.parse_url(connection.url)
        super().__init__(connection, address, error_message)
        self._core_path, self._handler = core_and_handler(address, connection.allowed_handlers)
        core = self._core_path.rpartition("/")[2]
        self._allowed_indexes = frozenset((core, *core.split(","), *connection.allowed_indexes))
        self._core_url = address.base + self._core_path
        self._handler_url = f"{self._core_url}/{self._handler}"
        self._solr = open_client(self._http, self._core_url, self._handler)

    @classmethod
    def address_of_page(cls, url: str) -> str:
        """Returns the core's address for a page of Solr's administration: `…/solr/#/products/query` is `…/solr/products`."""
        page = _ADMIN_PAGE.match(url)
        return f"{page['root']}/{page['core']}" if page else url

    @classmethod
    def suggest_template(cls, fields: Sequence[str], options: Mapping[str, Any]) -> str:
        boosted = " ".join(f"{name}^##title_boost##" if not index else name for index, name in enumerate(fields))
        return "q=#$query##\n&defType=edismax" + (f"\n&qf={boosted}\n&tie=0.1" if fields else "")

    @classmethod
    def template_warnings(cls, template: Template) -> list[TemplateWarning]:
        return misspelled_parameters(template)

    @classmethod
    def sum_template(cls, template: Template, clauses: Sequence[WeightedClause], *, window: int) -> str:
        """As `Engine.sum_template`: a `rerank` by a function. Solr before 9.3 adds it to the score instead of replacing it."""
        return reranked_template(template, clauses, window=window)

    def look_up(self, ids: Sequence[str], fields: FieldSpec) -> Iterable[Hit]:
        check_field_list(field_list(fields), self._allowed_indexes)
        self._http.rate_limit.wait()
        parameters = [
            ("q", _terms_query(fields.id)),
            ("doc_ids", _SEPARATOR.join(ids)),
            # A handler with another default parser would not understand the local parameters above.
            ("defType", "lucene"),
            ("fl", field_list(fields)),
            ("rows", str(len(ids))),
            ("expandMacros", "false"),
            *RESPONSE_FORMAT,
        ]
        documents = total_and_documents(self._send(SolrRequest(parameters)), self._handler_url)[1]
        return (read_hit(document, fields) for document in documents)

    def explain(self, request: Request, doc_id: str) -> Mapping[str, Any]:
        only_document = f"{{!term f={_quoted(request.fields.id)}}}{doc_id}"
        solr_request = self._explaining(request)
        self._http.rate_limit.wait()
        # A filter does not change the score and, unlike explainOther, works across shards.
        response = self._send(solr_request.with_parameters(("fq", only_document), ("rows", "1")))
        if tree := first_explanation(response, "explain"):
            return tree
        self._http.rate_limit.wait()
        response = self._send(solr_request.with_parameters(("explainOther", only_document), ("rows", "0")))
        tree = first_explanation(response, "explainOther")
        if tree is None:
            raise BadQuery(f"Solr has no document with the id “{doc_id}” to explain.")
        if tree.get("match") is False:
            return tree
        return left_out(tree, *self._failing_filters(solr_request, only_document))

    def _explaining(self, request: Request) -> SolrRequest:
        check_field_list(field_list(request.fields), self._allowed_indexes)
        return template_request(request, self._allowed_indexes).with_parameters(
            ("debug", "results"), ("debug.explain.structured", "true"), ("fl", request.fields.id), *RESPONSE_FORMAT
        )

    def _failing_filters(self, solr_request: SolrRequest, only_document: str) -> list[str]:
        """Returns the filters that leave a document out although it matches the query: one request for each filter."""
        failing = []
        for solr_filter in solr_request.filters[:_MAX_CHECKED_FILTERS]:
            self._http.rate_limit.wait()
            response = self._send(solr_request.only_filtered_by(solr_filter, only_document))
            if not total_and_documents(response, self._handler_url)[1]:
                failing.append(f"fq={solr_filter if isinstance(solr_filter, str) else json.dumps(solr_filter)}")
        # Some filters, such as a collapse, leave out documents because of others.
        return failing or ["a filter of the request or of the request handler"]

    def explain_many(self, request: Request, doc_ids: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        only_documents = ("fq", _terms_query(request.fields.id)), ("doc_ids", _SEPARATOR.join(doc_ids))
        solr_request = self._explaining(request).with_parameters(*only_documents, ("rows", str(len(doc_ids))))
        self._http.rate_limit.wait()
        response = self._send(solr_request)
        documents = total_and_documents(response, self._handler_url)[1]
        ids = [request.fields.id_of(document) for document in documents]
        return explanations_of(response, ids)

    @classmethod
    def parse_clause(cls, text: str) -> Template:
        """As `Engine.parse_clause`: the value of a parameter, which may begin with local parameters. Further parameters may follow."""
        return parse_template(f"{CLAUSE}={text}", cls.syntax)

    def clause_scores(
        self, clauses: Mapping[str, Request], doc_ids: Sequence[str]
    ) -> Mapping[str, Mapping[str, float]]:
        """As `Engine.clause_scores`, by pseudo-fields."""
        if not clauses or not doc_ids:
            return {}
        fields = next(iter(clauses.values())).fields
        check_field_list(fields.id, self._allowed_indexes)
        parameters, pseudo_fields = clause_parameters(clauses.values())
        check_parameters(parameters, self._allowed_indexes, expands_macros=False)
        self._http.rate_limit.wait()
        own = [
            ("q", _terms_query(fields.id)),
            ("doc_ids", _SEPARATOR.join(doc_ids)),
            ("defType", "lucene"),
            ("fl", ",".join([fields.id, *pseudo_fields])),
            ("rows", str(len(doc_ids))),
            ("expandMacros", "false"),
            *RESPONSE_FORMAT,
        ]
        documents = total_and_documents(self._send(SolrRequest([*parameters, *own])), self._handler_url)[1]
        return {fields.id_of(document): clause_scores_of(document, list(clauses)) for document in documents}

    def find(self, text: str, request: Request) -> Page:
        """As `Engine.find`: edismax, in the displayed fields and those of the template's `qf`. Accepts `field:word`."""
        names = searched_fields(request)
        try:
            return self.search(_edismax_request(text, request, names))
        except BadQuery as error:
            if "not a valid field name" not in str(error):
                raise
        field_names = set(self.fields())
        return self.search(_edismax_request(text, request, [name for name in names if name in field_names]))

    def interpret(self, request: Request) -> Interpretation:
        solr_request = search_request(replace(request, highlight=False), self._allowed_indexes)
        self._http.rate_limit.wait()
        # Without the parts that a template may not switch off, Solr gives no timing.
        return interpretation_of(self._send(solr_request.with_parameters(("debug", "true"))))

    def document_url(self, doc_id: str, fields: FieldSpec) -> str:
        query = {"q": f"{{!term f={_quoted(fields.id)}}}{doc_id}", "defType": "lucene", "wt": "json"}
        return f"{self._handler_url}?{urlencode(query)}"

    def fields(self) -> list[str]:
        self._http.rate_limit.wait()
        try:
            names = list(object_at(self._get(f"{self._core_path}/admin/luke?numTerms=0&wt=json"), "fields"))
        except EngineError:
            names = []
        if not names:  # an empty index, or a Solr that does not allow the Luke handler
            declared = objects_at(self._get(f"{self._core_path}/schema/fields?wt=json"), "fields")
            names = [str(entry.get("name")) for entry in declared]
        return sorted(names)

    def version(self) -> str:
        self._http.rate_limit.wait()
        try:
            return product_version(self._get(f"{self._core_path}/admin/system?wt=json"), self._core_url)
        except EndpointRefused:
            if not self._can_search():
                raise
        except EndpointUnreachable as error:
            if error.status != 404:
                raise
            self._search_nothing()  # raises if the core itself is missing
        try:
            root = self._core_path.rpartition("/")[0]
            return product_version(self._get(f"{root}/admin/info/system?wt=json"), self._core_url)
        except EngineError:
            return "Solr"  # searches are allowed, its version is not shown

    def render(self, request: Request) -> Mapping[str, Any]:
        return self._rendered(search_request(request, self._allowed_indexes))

    def load_documents(self, documents: Iterable[Mapping[str, Any]], *, id_field: str = "id") -> int:
        """As `Engine.load_documents`. The core's unique key decides which documents are replaced, not `id_field`."""
        loaded = list(documents)
        load(self._solr, self._http, self._core_path, loaded)
        return len(loaded)

    def search_once(self, request: Request) -> Page:
        solr_request = search_request(request, self._allowed_indexes)
        started = time.perf_counter()
        response = self._send(solr_request)
        took_ms = round((time.perf_counter() - started) * 1000)
        total, documents = total_and_documents(response, self._handler_url)
        highlights = highlights_of(response, documents) if request.highlight else [None] * len(documents)
        hits = tuple(
            read_hit(document, request.fields, snippets)
            for document, snippets in zip(documents, highlights, strict=True)
        )
        return Page(hits=hits, total=total, took_ms=took_ms, rendered_request=self._rendered(solr_request))

    def _rendered(self, solr_request: SolrRequest) -> Mapping[str, Any]:
        return {"method": "POST", "url": self._handler_url, **solr_request.as_json}

    def _send(self, solr_request: SolrRequest) -> dict[str, Any]:
        if solr_request.body is not None:  # pysolr has no method for the JSON Request API
            body = json.dumps(solr_request.as_json["body"], ensure_ascii=False).encode()
            path = f"{self._core_path}/{self._handler}"
            return read_json(self._http.send("POST", path, body=body, headers=_JSON).body, self._handler_url)
        values: dict[str, list[str]] = {"q": []}
        for name, value in solr_request.parameters:
            values.setdefault(name, []).append(value)
        if reserved := values.keys() & {"self", "search_handler"}:  # names of arguments of pysolr
            raise BadQuery(f"The parameter “{min(reserved)}” cannot be sent.", hint="Give it another name.")
        response: dict[str, Any] = self._solr.search(**values)
        return response

    def _get(self, path: str) -> dict[str, Any]:
        """Returns what an API of the core says that pysolr has no method for."""
        return read_json(self._http.send("GET", path).body, self._core_url)

    def _search_nothing(self) -> None:
        self._send(SolrRequest([("q", "*:*"), ("defType", "lucene"), ("rows", "0"), *RESPONSE_FORMAT]))

    def _can_search(self) -> bool:
        try:
            self._search_nothing()
        except EngineError:
            return False
        return True


def core_and_handler(address: Address, allowed_handlers: Sequence[str] = ()) -> tuple[str, str]:
    """Returns the path of the core, and its handler, of an address such as `…/solr/products` or `…/solr/products/select`.

    `allowed_handlers`: what an administrator allows besides `HANDLERS`. Raises `EndpointUnreachable` if the address names no
    core, or a handler that is not allowed.
    """
    segments = plain_segments(address, SolrEngine.address.example)
    core_index = segments.index("solr") + 1 if "solr" in segments else len(segments) - 1
    if segments[-1:] in (["select"], ["query"]):
        core_index = min(core_index, len(segments) - 2)
    if not segments or core_index < 0 or core_index >= len(segments):
        raise EndpointUnreachable(
            f"“{address}” names no core or collection.",
            hint=f"An address looks like {SolrEngine.address.example}.",
        )
    core, handler = segments[core_index], "/".join(segments[core_index + 1 :]) or HANDLERS[0]
    check_prefix(segments[:core_index], address)
    check_names(core, address)
    for segment in segments[: core_index + 1]:
        if segment.lower() in _APIS:
            raise EndpointUnreachable(
                f"“{segment}” in “{address}” is an API of Solr for administration, not a core.",
                hint=f"An address looks like {SolrEngine.address.example}.",
            )
    _check_handler(handler, allowed_handlers, address)
    return "/" + "/".join(segments[: core_index + 1]), handler


def _check_handler(handler: str, allowed_handlers: Sequence[str], address: Address) -> None:
    segments = handler.split("/")
    if any(segment.lower() in _NOT_FOR_SEARCHING for segment in segments):
        raise EndpointUnreachable(
            f"“{address}” ends in Solr's handler “{handler}”, which is not for searching.",
            hint="Enter the address of the core, or of a search handler such as select.",
        )
    if handler not in (*HANDLERS, *allowed_handlers) or not all(map(is_plain_name, segments)):
        raise EndpointUnreachable(
            f"“{address}” ends in the handler “{handler}”, which is not allowed for this endpoint.",
            hint=f"Use {' or '.join(HANDLERS)}. An administrator can allow further handlers for the endpoint.",
        )


def _edismax_request(text: str, request: Request, names: Sequence[str]) -> Request:
    qf = f"\n&qf={' '.join(names)}" if names else ""
    template = parse_template(f"q=#$query##\n&defType=edismax{qf}\n&q.op=AND\n&q.alt=*:*", "params")
    return request.with_own_template(text, template)


def _terms_query(field: str) -> str:
    """Returns a query for documents by id, which the parameter `doc_ids` lists: “ids” is one of Solr's own."""
    return f"{{!terms f={_quoted(field)} separator='{_SEPARATOR}' v=$doc_ids}}"


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
