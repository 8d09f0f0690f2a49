"""The adapter for the embedded engine: tantivy, with an index in a folder of this server. Needs no search server."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import tantivy

from relevancy.engines.base import Engine, Outcome
from relevancy.engines.errors import BadQuery, EndpointUnreachable, EngineError, UnsupportedByEngine
from relevancy.engines.explanations import no_match
from relevancy.engines.fields.specs import FieldSpec
from relevancy.engines.templates.slots import Slot
from relevancy.engines.templates.template import Template, parse_template
from relevancy.engines.types import (
    SEARCH_ENGINE,
    AddressField,
    Hit,
    Interpretation,
    Page,
    Request,
    Timing,
    WeightedClause,
)

from .build import build_index
from .filters import with_filters
from .highlighter import Highlighter
from .index import ANALYZER, ID, OpenIndex, keyword_text, open_index
from .query import KEYS, ParsedRequest, parse_request
from .scoring import Sum


class EmbeddedEngine(Engine):
    """One index. It is opened for each request (0.3 ms), so a new build is visible at once."""

    key = "embedded"
    label = "Embedded (tantivy)"
    syntax = "json"
    abilities = SEARCH_ENGINE
    address = AddressField(
        kind="folder",
        label="Name of the index",
        help="An index on this server. A new case, or the command load_documents, creates it.",
        example="movies",
    )
    find_help = "Words that must all occur."
    example_template = (
        '{\n  "query": "#$query##",\n  "fields": {"title": ##title_boost##, "overview": 1},\n  "tie": 0.1\n}'
    )
    example_clause = '{"query": "#$query##", "fields": {"title": 1}}'
    vocabulary = KEYS

    @classmethod
    def suggest_template(cls, fields: Sequence[str], options: Mapping[str, Any]) -> str:
        if not fields:
            return '{\n  "query": "#$query##"\n}'
        boosts = ", ".join(
            f"{json.dumps(name, ensure_ascii=False)}: {'1' if index else '##title_boost##'}"
            for index, name in enumerate(fields)
        )
        return f'{{\n  "query": "#$query##",\n  "fields": {{{boosts}}},\n  "tie": 0.1\n}}'

    @classmethod
    def sum_template(cls, template: Template, clauses: Sequence[WeightedClause], *, window: int) -> str:
        """As `Engine.sum_template`: a sum over fields, whose boosts are the weights. It ranks all documents that match."""
        if lost := [name for name in ("filter", "sort") if name in template.body]:
            raise UnsupportedByEngine(f"The template has “{lost[0]}”, which a sum over fields would lose.")
        knobs: dict[str, str] = {}
        for clause in clauses:
            name = None if clause.is_number else _only_field(cls.parse_clause(clause.text).body)
            if name is None:
                raise UnsupportedByEngine(
                    f"{cls.label} adds up words in fields only, and {clause.name} is something else.",
                    hint='Features such as {"query": "#$query##", "fields": {"title": 1}} can be added up.',
                )
            if knobs.setdefault(name, clause.knob) != clause.knob:
                raise UnsupportedByEngine(f"Two features search the field {name}, which has only one weight.")
        weights = [f"{json.dumps(name, ensure_ascii=False)}: ##{knob}##" for name, knob in knobs.items()]
        return f'{{\n  "query": "#$query##",\n  "type": "most_fields",\n  "fields": {{{", ".join(weights)}}}\n}}'

    def search(self, request: Request) -> Page:
        return self._search(self._open(), request)

    def search_many(
        self, requests: Sequence[Request], *, stop: Callable[[], bool] = lambda: False
    ) -> Iterator[Outcome]:
        """As `Engine.search_many`, one after the other on one snapshot of the index.

        tantivy holds the interpreter lock, so that more threads are slower.
        """
        index: OpenIndex | None = None
        for number, request in enumerate(requests):
            if stop():
                return
            try:
                index = index or self._open()
                yield number, self._search(index, request)
            except EngineError as error:
                yield number, error

    def lookup(self, ids: Sequence[str], fields: FieldSpec) -> list[Hit]:
        index = self._open()
        addresses = (index.find(doc_id) for doc_id in ids)
        return [_hit(index.document(address), None, fields) for address in addresses if address is not None]

    def explain(self, request: Request, doc_id: str) -> Mapping[str, Any]:
        index = self._open()
        address = index.find(doc_id)
        if address is None:
            raise BadQuery(f"The index “{self.connection.url}” has no document with the id “{doc_id}”.")
        parsed = parse_request(request.render(), index.description)
        return _explain(index, parsed, address) or _explain_failure(index, parsed, address)

    def explain_many(self, request: Request, doc_ids: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        index = self._open()
        parsed = parse_request(request.render(), index.description)
        addresses = {doc_id: index.find(doc_id) for doc_id in doc_ids}
        trees = {
            doc_id: _explain(index, parsed, address) for doc_id, address in addresses.items() if address is not None
        }
        return {doc_id: tree for doc_id, tree in trees.items() if tree is not None}

    def clause_scores(
        self, clauses: Mapping[str, Request], doc_ids: Sequence[str]
    ) -> Mapping[str, Mapping[str, float]]:
        index = self._open()
        addresses = {doc_id: address for doc_id in doc_ids if (address := index.find(doc_id)) is not None}
        scores: dict[str, dict[str, float]] = {doc_id: {} for doc_id in addresses}
        if not addresses:
            return scores
        of_documents = tantivy.Query.term_set_query(index.description.schema, ID, list(addresses))
        doc_ids_by_address = {_key(address): doc_id for doc_id, address in addresses.items()}
        for name, request in clauses.items():
            parsed = parse_request(request.render(), index.description)
            query = with_filters(parsed.query, [of_documents])
            for score, address in index.searcher.search(query, len(addresses), count=False).hits:
                scores[doc_ids_by_address[_key(address)]][name] = score
        return scores

    def find(self, text: str, request: Request) -> Page:
        """As `Engine.find`: all words must occur, in any text field."""
        template = parse_template('{"query": "#$query##", "operator": "and"}' if text else "{}", "json")
        return self.search(request.with_own_template(text, template))

    def interpret(self, request: Request) -> Interpretation:
        index = self._open()
        body = request.render()
        parsed = parse_request(body, index.description)
        words: list[Any] = ANALYZER.analyze(keyword_text(body.get("query") or ""))
        without_words = "every document" if body.get("query") is None else "no document: the query has no word"
        parts = [
            ("Words", " ".join(words)),
            ("Parsed query", parsed.scoring.text if parsed.scoring else without_words),
            ("Filters", "\n".join(text for text, _ in parsed.filters)),
            ("Sorted by", "\n".join(f"{name} {'desc' if falls else 'asc'}" for name, falls in parsed.sort)),
        ]
        started = time.perf_counter()
        self._search(index, replace(request, highlight=False))
        took = Timing("Whole search", (time.perf_counter() - started) * 1000)
        return Interpretation(tuple((name, text) for name, text in parts if text), (took,))

    def fields(self) -> list[str]:
        return sorted(self._open().description.fields)

    def version(self) -> str:
        self._open()
        return f"tantivy {version('tantivy')}"

    def render(self, request: Request) -> Mapping[str, Any]:
        return {
            "index": self.connection.url,
            "body": request.render(),
            "start": request.start,
            "rows": request.rows,
        }

    def load_documents(self, documents: Iterable[Mapping[str, Any]], *, id_field: str = "id") -> int:
        """As `Engine.load_documents`, but the new index replaces all documents of the old one."""
        if self.connection.data_dir is None:
            raise EndpointUnreachable("No data directory is set for embedded indexes.", hint="Set RELEVANCY_DATA_DIR.")
        return build_index(self.connection.data_dir, self.connection.url, documents, id_field=id_field)

    def _open(self) -> OpenIndex:
        return open_index(self.connection.data_dir, self.connection.url)

    def _search(self, index: OpenIndex, request: Request) -> Page:
        started = time.perf_counter()
        rendered = self.render(request)
        parsed = parse_request(rendered["body"], index.description)
        try:
            scored, total = _find(index, parsed, request.start, request.rows)
        except ValueError as error:
            raise BadQuery(f"tantivy rejected the query: {error}.") from error
        hits = [_hit(index.document(address), score, request.fields) for score, address in scored]
        if request.highlight and hits:
            highlighter = Highlighter(index, rendered["body"], request.fields)
            hits = [replace(hit, highlights=highlighter.highlights(hit.fields)) for hit in hits]
        return Page(tuple(hits), total, round((time.perf_counter() - started) * 1000), rendered)


def _explain(index: OpenIndex, parsed: ParsedRequest, address: tantivy.DocAddress) -> Mapping[str, Any] | None:
    """Returns why a document has its score; None if the query does not match it."""
    if not _is_match(index, parsed.query, address):
        return None
    tree = parsed.scoring.explain(index.searcher, address) if parsed.scoring else None
    return tree or {"value": 1.0, "description": "every document", "details": []}


def _explain_failure(index: OpenIndex, parsed: ParsedRequest, address: tantivy.DocAddress) -> Mapping[str, Any]:
    """Returns what a document does not meet that the query does not match."""
    clauses: list[Mapping[str, Any]] = []
    if parsed.required is not None:
        tree = parsed.scoring.explain(index.searcher, address) if parsed.scoring else None
        if _is_match(index, parsed.required.query(), address):
            clauses += [tree] if tree else []
        else:
            required = parsed.required
            failure = (
                required.explain_failure(index.searcher, address)
                if isinstance(required, Sum)
                else no_match("No matching clauses")
            )
            clauses.append(no_match(f"no match on required clause ({required.text})", failure))
    clauses += [
        no_match(f"no match on required clause ({text})")
        for text, query in parsed.filters
        if not _is_match(index, query, address)
    ]
    if not clauses:
        return no_match("the query has no word that could be searched, so it does not match any document")
    return no_match("Failure to meet condition(s) of required/prohibited clause(s)", *clauses)


def _is_match(index: OpenIndex, query: tantivy.Query, address: tantivy.DocAddress) -> bool:
    try:
        query.explain(index.searcher, address)
    except ValueError:
        return False
    return True


def _find(
    index: OpenIndex, parsed: ParsedRequest, start: int, rows: int
) -> tuple[list[tuple[float, tantivy.DocAddress]], int]:
    """Returns score and address of the hits from position `start`, and the number of matching documents."""
    all_rows = max(index.searcher.num_docs, 1)
    result: Any  # its type stub lacks `count`
    if parsed.sort:
        result = index.searcher.search(parsed.query, all_rows)
        return _sorted(index, parsed, result.hits)[start : start + rows], result.count
    if rows < 1 or start >= all_rows:
        result = index.searcher.search(parsed.query, 1)
        return [], result.count
    result = index.searcher.search(parsed.query, min(rows, all_rows), offset=start)
    return result.hits, result.count


def _sorted(
    index: OpenIndex, parsed: ParsedRequest, hits: list[tuple[float, tantivy.DocAddress]]
) -> list[tuple[float, tantivy.DocAddress]]:
    """Returns hits by the sort keys, those without a value last, equal ones by score and then by id."""
    order = list(range(len(hits)))
    for name, is_descending in reversed(parsed.sort):
        if name == "_score":
            values: Sequence[float | None] = [score for score, _ in hits]
        else:
            column = index.description.columns[name]
            values = index.searcher.fast_field_values(column, [address for _, address in hits])
        sign = -1 if is_descending else 1
        order.sort(key=lambda at: (values[at] is None, sign * (values[at] or 0.0)))
    return [hits[position] for position in order]


def _only_field(body: Any) -> str | None:
    """Returns the field that a request searches for all words of the query with the boost 1; None if it does anything else."""
    if not isinstance(body, dict) or body.keys() != {"query", "fields"} or not isinstance(body["query"], Slot):
        return None
    fields = body["fields"]
    is_plain = isinstance(fields, dict) and list(fields.values()) == [1] and isinstance(next(iter(fields)), str)
    return str(next(iter(fields))) if is_plain else None


def _key(address: tantivy.DocAddress) -> tuple[int, int]:
    return address.segment_ord, address.doc


def _hit(document: Mapping[str, Any], score: float | None, fields: FieldSpec) -> Hit:
    return Hit(fields.id_of(document), score, fields.pick(document))
