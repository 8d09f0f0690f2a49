"""Solr 8.11 and 9, asked through `pysolr`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlencode

import pysolr

from .addresses import Address
from .answers import Answer, read_json
from .base import Abilities, Connection, Engine, Hit, Page, Request
from .errors import BadQuery, EndpointRefused, EndpointUnreachable, EngineError, TooSlow, UnreadableAnswer
from .fields import FieldSpec
from .http import HttpClient
from .many import in_parallel
from .solr_params import Pairs, checked, field_list

_FORM = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}
_OURS: Pairs = [("wt", "json"), ("echoParams", "none"), ("indent", "off")]
_LOOKUP_BATCH = 500
_SEPARATOR = "\x1f"  # in no document id, so ids with commas and blanks need no escaping


@dataclass(frozen=True)
class _Response:
    """What pysolr looks at in an answer."""

    status_code: int
    content: bytes
    headers: Mapping[str, str]


class _Session:
    """Stands where pysolr expects its HTTP session. Sends through our client, so that a failure reaches the caller as
    one of our errors with its status and the engine's words; pysolr itself would give text, and log it."""

    def __init__(self, client: HttpClient) -> None:
        self._client = client
        self._base = client.address.base

    def post(self, url: str, *, data: bytes, headers: Mapping[str, str], **_: object) -> _Response:
        return self._response(self._client.send("POST", url.removeprefix(self._base), body=data, headers=headers))

    def get(self, url: str, **_: object) -> _Response:
        return self._response(self._client.send("GET", url.removeprefix(self._base)))

    @staticmethod
    def _response(answer: Answer) -> _Response:
        # pysolr takes 200 for the only success.
        return _Response(200, answer.body, answer.headers)


class _Solr(pysolr.Solr):  # type: ignore[misc]
    """pysolr, always by POST: it would put short queries into the address, where proxies and access logs keep them."""

    def post(self, handler: str, pairs: Pairs) -> str:
        """The text of an answer."""
        return str(self._send_request("post", handler, body=urlencode(pairs), headers=_FORM))

    def get(self, path: str) -> str:
        """The text of an answer."""
        return str(self._send_request("get", path))


class SolrEngine(Engine):
    """One core or collection. `url` may end in a request handler (`…/solr/products/browse`); the default is `select`."""

    key = "solr"
    label = "Solr"
    syntax = "params"
    abilities: ClassVar[Abilities] = Abilities(explain=True, lookup=True)
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
        self._solr = _Solr(self._core, session=_Session(self._client))

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
                *_OURS,
            ]
            for doc in _docs(self._ask(pairs), self._where)[1]:
                hit = _hit(doc, fields)
                found.setdefault(hit.id, Hit(hit.id, None, hit.fields))
        return [found[doc_id] for doc_id in wanted if doc_id in found]

    def explain(self, request: Request, doc_id: str) -> Mapping[str, Any]:
        one = f"{{!term f={_quoted(request.fields.id)}}}{doc_id}"
        asked = checked(_rendered(request))
        debug: Pairs = [("debug", "results"), ("debug.explain.structured", "true"), ("fl", request.fields.id), *_OURS]
        self._client.pace.wait()
        # A filter changes no score, and works across shards, where explainOther does not.
        answer = self._ask([*asked, ("fq", one), ("rows", "1"), *debug])
        tree = _first(answer.get("debug"), "explain")
        if tree is None:
            self._client.pace.wait()
            answer = self._ask([*asked, ("explainOther", one), ("rows", "0"), *debug])
            tree = _first(answer.get("debug"), "explainOther")
        if tree is None:
            raise BadQuery(f"Solr has no document with the id “{doc_id}” to explain.")
        return _normal(tree)

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
            return _product(read_json(self._solr.get("admin/system?wt=json"), self._core), self._core)
        except EndpointRefused:
            if not self._search_allowed():
                raise
        except EndpointUnreachable as error:
            if error.status != 404:
                raise
            self._probe()  # says so if the core itself is missing
        try:
            answer = self._client.send("GET", f"{self._root}/admin/info/system?wt=json")
            return _product(read_json(answer.body.decode("utf-8", "replace"), self._core), self._core)
        except EngineError:
            return "Solr"  # it answers searches and keeps its version to itself

    def render(self, request: Request) -> Mapping[str, Any]:
        return self._sent(self._pairs(request))

    def close(self) -> None:
        self._client.close()

    def _search(self, request: Request) -> Page:
        pairs = self._pairs(request)
        began = time.perf_counter()
        answer = self._ask(pairs)
        took = round((time.perf_counter() - began) * 1000)
        total, docs = _docs(answer, self._where)
        hits = tuple(_hit(doc, request.fields) for doc in docs)
        return Page(hits=hits, total=total, took_ms=took, sent=self._sent(pairs))

    def _pairs(self, request: Request) -> Pairs:
        return [
            *checked(_rendered(request)),
            ("fl", field_list(request.fields)),
            ("rows", str(request.rows)),
            ("start", str(request.start)),
            *_OURS,
        ]

    def _sent(self, pairs: Pairs) -> Mapping[str, Any]:
        return {"method": "POST", "url": self._where, "params": [list(pair) for pair in pairs]}

    def _ask(self, pairs: Pairs) -> dict[str, Any]:
        try:
            text = self._solr.post(self._handler, pairs)
        except UnicodeEncodeError as error:
            raise BadQuery(
                "The query contains half of a character (a lone surrogate), which cannot be sent."
            ) from error
        return read_json(text, self._where)

    def _probe(self) -> None:
        self._ask([("q", "*:*"), ("defType", "lucene"), ("rows", "0"), *_OURS])

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


def _rendered(request: Request) -> Pairs:
    pairs: Pairs = request.template.render(
        query=request.query, options=request.options, knobs=request.knobs, escape=request.escape
    )
    return pairs


def _docs(answer: dict[str, Any], where: str) -> tuple[int | None, list[dict[str, Any]]]:
    """Total and documents of an answer."""
    header = answer.get("responseHeader")
    if isinstance(header, dict) and header.get("partialResults") is True:
        raise TooSlow(
            "Solr stopped early and returned only a part of the results (partialResults).",
            todo="Raise or remove timeAllowed, or try a cheaper query.",
        )
    response = answer.get("response")
    docs = response.get("docs") if isinstance(response, dict) else None
    if not isinstance(docs, list) or not all(isinstance(doc, dict) for doc in docs):
        what = "grouped results, which are not a ranking" if "grouped" in answer else "JSON without “response.docs”"
        raise UnreadableAnswer(
            f"{where} answered with {what}.",
            todo="Is this a search handler of Solr, and the template without grouping?",
        )
    total = response.get("numFound") if isinstance(response, dict) else None
    return (total if isinstance(total, int) else None), docs


def _hit(doc: dict[str, Any], fields: FieldSpec) -> Hit:
    score = doc.pop("score", None)
    return Hit(
        id=fields.id_of(doc),
        score=float(score) if isinstance(score, int | float) else None,
        fields=fields.pick(doc),
    )


def _first(debug: Any, name: str) -> Mapping[str, Any] | None:
    """The only tree below `debug.explain` or `debug.explainOther`, whose keys are unique keys of documents."""
    trees = debug.get(name) if isinstance(debug, dict) else None
    if not isinstance(trees, dict):
        return None
    return next((tree for tree in trees.values() if isinstance(tree, dict)), None)


def _normal(tree: Mapping[str, Any]) -> dict[str, Any]:
    value = tree.get("value")
    details = tree.get("details")
    return {
        "value": float(value) if isinstance(value, int | float) else 0.0,
        "description": str(tree.get("description", "")),
        "details": [_normal(node) for node in details if isinstance(node, dict)] if isinstance(details, list) else [],
    }


def _product(answer: dict[str, Any], where: str) -> str:
    lucene = answer.get("lucene")
    version = lucene.get("solr-spec-version") if isinstance(lucene, dict) else None
    if not isinstance(version, str):
        raise UnreadableAnswer(f"{where} answers, but not as Solr does.", todo="Is this the address of a Solr core?")
    return f"Solr {version}"


def own_message(body: Any) -> str:
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return ""
    return str(error.get("msg") or str(error.get("trace", "")).partition("\n")[0])


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
