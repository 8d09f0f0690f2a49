"""The adapter for any search API that speaks JSON: a query string, form or JSON body, read by JMESPath expressions."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from relevancy.engines.errors import BadQuery, EngineError, UnreadableResponse, UnsupportedByEngine
from relevancy.engines.fields.specs import FieldSpec, parse_fields
from relevancy.engines.fields.values import field_names
from relevancy.engines.http_engine import HttpEngine
from relevancy.engines.templates.template import Template, parse_template
from relevancy.engines.transport.concurrency import in_parallel
from relevancy.engines.types import Abilities, AddressField, Connection, Hit, Page, Request

from .options import EXAMPLE_TEMPLATES, OPTIONS, example_template, parse_options
from .presets import PRESETS
from .results import error_message, read_hit, read_hits, read_response
from .targets import check_body, check_parameters, check_path, check_target

_JSON = {"accept": "application/json", "content-type": "application/json"}
_FORM = {"accept": "application/json", "content-type": "application/x-www-form-urlencoded; charset=utf-8"}
_ACCEPT_JSON = {"accept": "application/json"}
_TEST_ROWS = 10
_TEST_KNOB = 10
# The API exists and complains about the missing query. With POST, what is 404 for GET may exist.
_COMPLAINTS = frozenset({400, 405, 406, 411, 415, 422})


class HttpApiEngine(HttpEngine):
    """One search API. `options.py` describes the options of its endpoint.

    The field `id` of a hit is what the option `id` finds in it. If the API is not told the number of hits
    (`rows_parameter`), its results are cut.
    """

    key = "http"
    label = "HTTP API (JSON)"
    syntax = "either"
    abilities = Abilities(lookup=True)
    address = AddressField(
        kind="url",
        label="Address of the API",
        help="The URL that searches are sent to, without a query string.",
        example="https://shop.example.com/api/search",
    )
    example_template = EXAMPLE_TEMPLATES["GET"]
    options = OPTIONS
    presets = PRESETS

    def __init__(self, connection: Connection) -> None:
        self._options = parse_options(connection.options)
        address = connection.rules.parse_url(connection.url)
        super().__init__(connection, address, error_message)
        # Redirects are not followed, so a slash at the end, which an API may insist on, is kept.
        self._path = address.path + ("/" if urlsplit(connection.url.strip()).path.endswith("/") else "") or "/"
        self._url = address.base + self._path
        check_path(self._path)
        if self._options.lookup:
            check_path(self._lookup_target("x").partition("?")[0], is_lookup=True)
        self._base = address.base
        self._test_page: Page | None = None

    @classmethod
    def suggest_template(cls, fields: Sequence[str], options: Mapping[str, Any]) -> str:
        return example_template(options)

    def look_up(self, ids: Sequence[str], fields: FieldSpec) -> Iterable[Hit]:
        """As `HttpEngine.look_up`, one request for each document. The response is the document as a hit, or a list of hits."""
        if not self._options.lookup:
            raise UnsupportedByEngine(
                "The endpoint cannot look up documents by id.",
                hint="Set its option lookup, such as /products/{id}.",
            )
        return in_parallel(
            ids,
            lambda doc_id: self._fetch_document(doc_id, fields),
            parallel=self.connection.parallel,
            stop=lambda: False,
            before=self._http.rate_limit.wait,
        )

    def fields(self) -> list[str]:
        """Returns the fields in the results of the test query; none if the endpoint has no template of its own."""
        if self._options.template is None:
            return []
        return field_names([hit.fields for hit in self._run_test_query(self._options.template).hits])

    def version(self) -> str:
        """Runs the test query, which also checks the expressions.

        Without a template of the endpoint's own, only checks that the API responds: a complaint about a missing query is
        sufficient.
        """
        self._test_page = None
        if self._options.template is not None:
            self._run_test_query(self._options.template)
            return "HTTP API"
        self._http.rate_limit.wait()
        try:
            self._http.send("GET", self._path, headers=_ACCEPT_JSON)
        except EngineError as error:
            complaints = _COMPLAINTS | {404} if self._options.method == "POST" else _COMPLAINTS
            if error.status not in complaints:
                raise
        return "HTTP API"

    def render(self, request: Request) -> Mapping[str, Any]:
        rendered = request.render()
        target = {"method": self._options.method, "url": self._url}
        paging = self._paging(request)
        if request.template.syntax == "params":
            params = [[name, value] for name, value in rendered if name not in paging]
            check_parameters(self._path, [(name, value) for name, value in params], self.connection.allowed_indexes)
            return {**target, "params": [*params, *([name, str(value)] for name, value in paging.items())]}
        if self._options.method == "GET":
            raise BadQuery(
                "The template is a JSON body, but the endpoint uses GET.",
                hint="Write a query string such as q=#$query##, or choose POST in the endpoint.",
            )
        for name, value in paging.items():
            _set_nested(rendered, name, value)
        check_body(self._path, rendered, self.connection.allowed_indexes)
        return {**target, "body": rendered}

    def fetch(self, query: str) -> str:
        """Sends one query with the endpoint's own template, or the one suggested for it, and returns the text of the response."""
        options = self._options
        template = options.template or parse_template(EXAMPLE_TEMPLATES[options.method], self.syntax)
        self._http.rate_limit.wait()
        return self._send(self.render(self._test_request(query, template))).decode("utf-8-sig", "replace")

    def search_once(self, request: Request) -> Page:
        rendered = self.render(request)
        started = time.perf_counter()
        body = self._send(rendered)
        took_ms = round((time.perf_counter() - started) * 1000)
        raws, total = read_hits(body, self._url, self._options)
        first = 0 if self._options.start_parameter else request.start
        page_raws = raws[first : first + max(request.rows, 0)]
        hits = tuple(
            read_hit(raw, rank, self._options, request.fields) for rank, raw in enumerate(page_raws, first + 1)
        )
        return Page(hits=hits, total=total, took_ms=took_ms, rendered_request=rendered)

    def _send(self, rendered: Mapping[str, Any]) -> bytes:
        if "body" in rendered:
            body = json.dumps(rendered["body"], ensure_ascii=False).encode()
            return self._http.send("POST", self._path, body=body, headers=_JSON).body
        form = urlencode([(name, value) for name, value in rendered["params"]])
        if rendered["method"] == "POST":
            return self._http.send("POST", self._path, body=form.encode(), headers=_FORM).body
        return self._http.send("GET", f"{self._path}?{form}", headers=_ACCEPT_JSON).body

    def _paging(self, request: Request) -> dict[str, int]:
        rows_parameter, start_parameter = self._options.rows_parameter, self._options.start_parameter
        rows = max(request.rows, 1)  # many APIs reject 0
        paging = {rows_parameter: rows if start_parameter else request.start + rows} if rows_parameter else {}
        return paging | {start_parameter: request.start} if start_parameter else paging

    def _lookup_target(self, doc_id: str) -> str:
        target = self._options.lookup.replace("{id}", quote(doc_id, safe="", errors="replace"))
        return self._path + target if target[0] == "?" else target

    def _fetch_document(self, doc_id: str, fields: FieldSpec) -> Hit | None:
        if doc_id in (".", ".."):
            return None  # it would change the path
        path = self._lookup_target(doc_id)
        check_target(path, self.connection.allowed_indexes)
        try:
            response = self._http.send("GET", path, headers=_ACCEPT_JSON)
        except EngineError as error:
            if error.status in (404, 410):
                return None
            raise
        url = self._base + path.partition("?")[0]
        try:
            raws, _ = read_hits(response.body, url, self._options)
        except UnreadableResponse:
            raws = [read_response(response.body, url)]
        for rank, raw in enumerate(raws, 1):
            hit = read_hit(raw, rank, self._options, fields)
            if hit.id == doc_id:
                return hit
        return None

    def _run_test_query(self, template: Template) -> Page:
        """Returns the results of the test query, which is sent once."""
        if self._test_page is None:
            self._test_page = self.search(self._test_request(self._options.test_query, template))
        return self._test_page

    def _test_request(self, query: str, template: Template) -> Request:
        return Request(
            query=query,
            template=template,
            fields=parse_fields("*", self.default_id_field),
            rows=_TEST_ROWS,
            knobs=dict.fromkeys(template.knobs, _TEST_KNOB),
            options=self.connection.options.get("query_options", {}),
        )


def _set_nested(body: Any, name: str, value: int) -> None:
    """Sets a parameter in a JSON body; dots lead into objects."""
    *outer, last = name.split(".")
    for part in outer:
        body = body.setdefault(part, {}) if isinstance(body, dict) else None
    if not isinstance(body, dict):
        raise BadQuery(
            f"The parameter “{name}” cannot be set in the template: what precedes its last dot is not an object.",
            hint="Correct the endpoint's rows_parameter or start_parameter.",
        )
    body[last] = value
