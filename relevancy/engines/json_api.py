"""Any search API that speaks JSON: asked by a query string, a form or a JSON body, read by JMESPath expressions."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote, urlencode, urlsplit

from .base import Abilities, Connection, Engine, Hit, Page, Request
from .errors import BadQuery, EngineError, UnreadableAnswer
from .fields import FieldSpec, parse_fields
from .http import HttpClient
from .json_api_answers import field_names, hits_of, own_message, read_answer, read_hit, total_of
from .json_api_options import EXAMPLES, read_options
from .many import in_parallel
from .templates import Syntax

__all__ = ["JsonApiEngine", "own_message"]

_JSON = {"accept": "application/json", "content-type": "application/json"}
_FORM = {"accept": "application/json", "content-type": "application/x-www-form-urlencoded; charset=utf-8"}
_PLAIN = {"accept": "application/json"}
_TEST_ROWS = 10
_TEST_KNOB = 10
# Somebody is there and misses a query; what is missing with POST may be there only for POST.
_THERE = frozenset({400, 405, 406, 411, 415, 422})


class JsonApiEngine(Engine):
    """One search API. The options of the connection are described in `json_api_options`.

    The field `id` of a hit is what the option `id` finds in it. Where the API is not told how many hits are wanted
    (`rows_parameter`), what it sends is cut.
    """

    key: ClassVar[str] = "http"
    label: ClassVar[str] = "HTTP API (JSON)"
    syntax: ClassVar[Syntax] = "either"
    abilities: ClassVar[Abilities] = Abilities(lookup=True)
    example_url: ClassVar[str] = "https://shop.example.com/api/search"
    example_template: ClassVar[str] = EXAMPLES["GET"]

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._options = read_options(connection.options)
        address = connection.rules.read(connection.url)
        # Redirects are not followed, so a slash at the end that an API insists on must be kept.
        self._path = address.path + ("/" if urlsplit(connection.url.strip()).path.endswith("/") else "") or "/"
        self._where = address.base + self._path
        self._base = address.base
        self._client = HttpClient(connection, address, own_message)
        self._tested: Page | None = None

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
        """One request for each document. The answer is the document as a hit, or has a list of hits with it."""
        if not self._options.lookup:
            raise BadQuery(
                "The endpoint does not say how a document is found by its id.",
                todo="Give it the option lookup, such as /products/{id}.",
            )
        found = dict(
            in_parallel(
                dict.fromkeys(ids),
                lambda doc_id: (doc_id, self._one(doc_id, fields)),
                parallel=self.connection.parallel,
                stop=lambda: False,
                before=self._client.pace.wait,
            )
        )
        hits = (found.get(doc_id) for doc_id in dict.fromkeys(ids))
        return [hit for hit in hits if hit]

    def explain(self, request: Request, doc_id: str) -> Mapping[str, Any]:
        raise BadQuery("An HTTP API does not say why a document has its place.")

    def fields(self) -> list[str]:
        """Names in what the test query found; none where the endpoint has no template of its own."""
        if self._options.template is None:
            return []
        return field_names([hit.fields for hit in self._test().hits])

    def version(self) -> str:
        """Asks the test query, which checks the expressions, too. Without a template of the endpoint's own it can only be
        seen whether anybody is there: an answer that complains of a missing query is as good as any."""
        self._tested = None
        if self._options.template is not None:
            self._test()
            return "HTTP API"
        self._client.pace.wait()
        try:
            self._client.send("GET", self._path, headers=_PLAIN)
        except EngineError as error:
            there = _THERE | {404} if self._options.method == "POST" else _THERE
            if error.status not in there:
                raise
        return "HTTP API"

    def render(self, request: Request) -> Mapping[str, Any]:
        rendered = request.template.render(
            query=request.query, options=request.options, knobs=request.knobs, escape=request.escape
        )
        sent = {"method": self._options.method, "url": self._where}
        own = self._paging(request)
        if request.template.syntax == "params":
            pairs = [[name, value] for name, value in rendered if name not in own]
            return {**sent, "params": [*pairs, *([name, str(value)] for name, value in own.items())]}
        if self._options.method == "GET":
            raise BadQuery(
                "The template is a JSON body, but the endpoint asks with GET.",
                todo="Write a query string such as q=#$query##, or choose POST in the endpoint.",
            )
        for name, value in own.items():
            _set(rendered, name, value)
        return {**sent, "body": rendered}

    def close(self) -> None:
        self._client.close()

    def _search(self, request: Request) -> Page:
        sent = self.render(request)
        began = time.perf_counter()
        answer = self._ask(sent)
        took = round((time.perf_counter() - began) * 1000)
        raws = hits_of(answer, self._options)
        total = total_of(answer, self._options, raws)
        first = 0 if self._options.start_parameter else request.start
        shown = raws[first : first + max(request.rows, 0)]
        hits = tuple(read_hit(raw, place, self._options, request.fields) for place, raw in enumerate(shown, first + 1))
        return Page(hits=hits, total=total, took_ms=took, sent=sent)

    def _ask(self, sent: Mapping[str, Any]) -> Any:
        try:
            if "body" in sent:
                body = json.dumps(sent["body"], ensure_ascii=False).encode()
                answer = self._client.send("POST", self._path, body=body, headers=_JSON)
            elif sent["method"] == "POST":
                answer = self._client.send("POST", self._path, body=_encoded(sent).encode(), headers=_FORM)
            else:
                answer = self._client.send("GET", f"{self._path}?{_encoded(sent)}", headers=_PLAIN)
        except UnicodeEncodeError as error:
            raise BadQuery(
                "The query contains half of a character (a lone surrogate), which cannot be sent."
            ) from error
        return read_answer(answer.body, self._where)

    def _paging(self, request: Request) -> dict[str, int]:
        rows, start = self._options.rows_parameter, self._options.start_parameter
        wanted = max(request.rows, 1)  # APIs tend to refuse 0
        own = {rows: wanted if start else request.start + wanted} if rows else {}
        return own | {start: request.start} if start else own

    def _one(self, doc_id: str, fields: FieldSpec) -> Hit | None:
        if doc_id in (".", ".."):
            return None  # would be another path
        target = self._options.lookup.replace("{id}", quote(doc_id, safe="", errors="replace"))
        try:
            answer = self._client.send("GET", self._path + target if target[0] == "?" else target, headers=_PLAIN)
        except EngineError as error:
            if error.status in (404, 410):
                return None
            raise
        value = read_answer(answer.body, self._base + target.partition("?")[0])
        try:
            raws = hits_of(value, self._options)
        except UnreadableAnswer:
            raws = [value]
        for place, raw in enumerate(raws, 1):
            hit = read_hit(raw, place, self._options, fields)
            if hit.id == doc_id:
                return Hit(hit.id, None, hit.fields)
        return None

    def _test(self) -> Page:
        """What the test query finds, asked once."""
        template = self._options.template
        if self._tested is None and template is not None:
            self._tested = self.search(
                Request(
                    query=self._options.test_query,
                    template=template,
                    fields=parse_fields("*", self.default_id_field),
                    rows=_TEST_ROWS,
                    knobs=dict.fromkeys(template.knobs, _TEST_KNOB),
                    options=self.connection.options.get("query_options", {}),
                )
            )
        assert self._tested is not None
        return self._tested


def _encoded(sent: Mapping[str, Any]) -> str:
    return urlencode([(name, value) for name, value in sent["params"]])


def _set(body: Any, name: str, value: int) -> None:
    """Set a parameter in a JSON body, along its dots."""
    *outer, last = name.split(".")
    for part in outer:
        body = body.setdefault(part, {}) if isinstance(body, dict) else None
    if not isinstance(body, dict):
        raise BadQuery(
            f"The parameter “{name}” has no place in the template: what stands before its last dot is not an object.",
            todo="Correct the endpoint's rows_parameter or start_parameter.",
        )
    body[last] = value
