"""Elasticsearch's addresses, requests and errors; `tests/contracts` and `tests/live` test its behaviour."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from relevancy import engines
from relevancy.engines import (
    AddressRules,
    BadQuery,
    Connection,
    EndpointUnreachable,
    Page,
    Request,
    TooSlow,
    UnreadableResponse,
)
from relevancy.engines.elastic.addresses import prefix_and_index
from relevancy.engines.elastic.request import source_filter
from relevancy.engines.elastic.results import error_message
from tests.contracts.fakes import fake_elasticsearch
from tests.contracts.local_server import LocalServer, ReceivedRequest, Reply, json_reply, serving
from tests.contracts.subject import LOOPBACK

MATCH = '{"query": {"match": {"title": "#$query##"}}}'


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with serving(fake_elasticsearch) as server:
        yield server


def connect(server: LocalServer, path: str = "/films", **changes: Any) -> engines.Engine:
    return engines.connect(Connection("elasticsearch", server.url + path, LOOPBACK, **changes))


def request(template: str = MATCH, query: str = "star") -> Request:
    return Request(query, engines.parse_template(template, "json"), engines.parse_fields("title", "_id"), 5, start=1)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/products", ("", "products")),
        ("/products/_search", ("", "products")),
        ("/products/_msearch", ("", "products")),
        ("/es/eu/products,films", ("/es/eu", "products,films")),
        ("/größe", ("", "größe")),
    ],
)
def test_prefix_and_index(path: str, expected: tuple[str, str]) -> None:
    assert prefix_and_index(AddressRules().parse_url("http://x.example" + path)) == expected


@pytest.mark.parametrize("path", ["", "/", "/_search", "/products/_delete_by_query", "/_cluster"])
def test_prefix_and_index_rejects(path: str) -> None:
    with pytest.raises(EndpointUnreachable, match=r"names no index|is not the name of an index"):
        prefix_and_index(AddressRules().parse_url("http://x.example" + path))


def test_search_sends_plain_json(server: LocalServer) -> None:
    with connect(server) as engine:
        engine.search(request())
        list(engine.search_many([request(), request()]))
    one, many = server.received
    assert (one.headers["accept"], one.headers["content-type"]) == ("application/json", "application/json")
    assert (many.headers["accept"], many.headers["content-type"]) == ("application/json", "application/x-ndjson")
    assert many.path == "/films/_msearch?max_concurrent_searches=8"


def test_search_overrides_depth(server: LocalServer) -> None:
    text = '{"query": {"match": {"title": "#$query##"}}, "size": 1000, "from": 7, "_source": "secret", "explain": true}'
    with connect(server) as engine:
        engine.search(request(text))
    body = json.loads(server.received[0].body)
    assert body == {
        "query": {"match": {"title": "star"}},
        "from": 1,
        "size": 5,
        "_source": ["title"],
        "track_total_hits": True,
    }


def test_search_keeps_the_path_before_the_index(server: LocalServer) -> None:
    def prefixed(received: ReceivedRequest) -> Reply:
        return fake_elasticsearch(replace(received, path=received.path.removeprefix("/es")))

    server.respond = prefixed
    with connect(server, "/es/films") as engine:
        assert engine.search(request()).rendered_request["url"] == f"{server.url}/es/films/_search"
        assert engine.version() == "Elasticsearch 9.4.3"
    assert [received.path for received in server.received] == ["/es/films/_search", "/es/films/_search", "/es/"]


def test_search_many_sends_batches(server: LocalServer) -> None:
    with connect(server, parallel=4) as engine:
        outcomes = list(engine.search_many([request() for _ in range(250)]))
    assert len(outcomes) == 250
    assert [received.path for received in server.received] == [
        "/films/_msearch?max_concurrent_searches=2"
    ] * 3  # two batches at a time


def test_search_many_sends_queries_alone_if_a_batch_is_too_large(server: LocalServer) -> None:
    def too_large(received: ReceivedRequest) -> Reply:
        reply = fake_elasticsearch(received)
        return replace(reply, length=21 * 1024 * 1024) if "_msearch" in received.path else reply

    server.respond = too_large
    with connect(server) as engine:
        outcomes = dict(engine.search_many([request() for _ in range(250)]))
    assert len(outcomes) == 250
    assert all(isinstance(outcome, Page) for outcome in outcomes.values())
    # Batches under way are abandoned when the first one fails, and no further ones are sent.
    assert sum("_msearch" in received.path for received in server.received) <= 3


def test_search_many_yields_the_error_of_a_batch(server: LocalServer) -> None:
    server.respond = lambda received: Reply(b"", 401)
    with connect(server) as engine:
        outcomes = list(engine.search_many([request() for _ in range(3)]))
    assert [type(outcome).__name__ for _, outcome in outcomes] == ["EndpointRefused"] * 3
    assert len(server.received) == 1


def test_search_many_of_a_batch_with_errors(server: LocalServer) -> None:
    items = [
        {"took": 7, "status": 200, "hits": {"total": {"value": 0}, "hits": []}},
        {"status": 429, "error": {"type": "es_rejected_execution_exception", "reason": "queue is full"}},
        {"status": 200, "hits": None},
    ]
    server.respond = lambda received: json_reply({"responses": items})
    with connect(server) as engine:
        outcomes = dict(engine.search_many([request() for _ in range(3)]))
    first = outcomes[0]
    assert isinstance(first, Page)
    assert first.took_ms == 7
    assert "queue is full" in str(outcomes[1])
    assert isinstance(outcomes[2], UnreadableResponse)


def test_search_of_another_product(server: LocalServer) -> None:
    server.respond = lambda received: Reply(b"{}", 200, {"content-type": "application/json"})
    with connect(server) as engine, pytest.raises(UnreadableResponse, match="OpenSearch"):
        engine.search(request())


@pytest.mark.filterwarnings("error")
def test_search_ignores_warnings_of_the_server(server: LocalServer) -> None:
    def warning(received: ReceivedRequest) -> Reply:
        reply = fake_elasticsearch(received)
        return replace(reply, headers={**reply.headers, "warning": '299 Elasticsearch "deprecated"'})

    server.respond = warning
    with connect(server) as engine:
        assert engine.search(request()).total == 3


def test_search_with_failed_shards(server: LocalServer) -> None:
    shards = {"total": 5, "failed": 2, "failures": [{"reason": {"type": "x", "reason": "disk is gone"}}]}
    server.respond = lambda received: json_reply({"_shards": shards, "hits": {"hits": []}})
    with connect(server) as engine, pytest.raises(BadQuery, match=r"2 of 5 shards failed: disk is gone"):
        engine.search(request())


def test_search_timed_out(server: LocalServer) -> None:
    server.respond = lambda received: json_reply({"timed_out": True, "hits": {"hits": []}})
    with connect(server) as engine, pytest.raises(TooSlow):
        engine.search(request())


def test_search_total_of_old_servers_and_without_total(server: LocalServer) -> None:
    with connect(server) as engine:
        server.respond = lambda received: json_reply({"hits": {"total": 12, "hits": []}})
        assert engine.search(request()).total == 12
        server.respond = lambda received: json_reply({"hits": {"hits": []}})
        assert engine.search(request()).total is None


def test_version_if_the_cluster_is_forbidden(server: LocalServer) -> None:
    server.respond = lambda received: Reply(b"", 403) if received.path == "/" else fake_elasticsearch(received)
    with connect(server) as engine:
        assert engine.version() == "Elasticsearch"


def test_fields_without_objects_and_metadata(server: LocalServer) -> None:
    caps = {
        "title": {"text": {"type": "text"}},
        "maker": {"object": {"type": "object"}},
        "maker.name": {"keyword": {"type": "keyword"}},
        "_doc_count": {"long": {"type": "long", "metadata_field": True}},
    }
    server.respond = lambda received: json_reply({"fields": caps})
    with connect(server) as engine:
        assert engine.fields() == ["maker.name", "title"]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ("alias is gone", "alias is gone"),
        ({"reason": "all shards failed", "root_cause": [{"reason": "why"}]}, "all shards failed: why"),
        ({"reason": "a", "caused_by": {"reason": "b", "caused_by": {"reason": "c"}}}, "a: b: c"),
        ({"reason": "a", "failed_shards": [{"reason": {"reason": "b"}}]}, "a: b"),
        ({"failed_shards": [3], "root_cause": "x"}, ""),
        (None, ""),
    ],
)
def test_error_message(error: Any, message: str) -> None:
    assert error_message({"error": error}) == message


@pytest.mark.parametrize(
    ("spec", "expected"), [("", True), ("id:_id title:_id", False), ("id:sku title:name", ["sku", "name"])]
)
def test_source_filter(spec: str, expected: Any) -> None:
    assert source_filter(engines.parse_fields(spec, "_id")) == expected


@pytest.mark.parametrize(
    ("body", "clause"),
    [
        ({"post_filter": {"term": {"genre": "comedy"}}}, 'post_filter {"term": {"genre": "comedy"}}'),
        ({"min_score": 3}, "min_score 3"),
        ({"collapse": {"field": "genre"}}, "another part of the request, such as collapse or rescore"),
    ],
)
def test_explain_names_what_leaves_a_document_out(server: LocalServer, body: dict[str, Any], clause: str) -> None:
    tree = {"value": 1.5, "description": "weight(title:star in 0) [PerFieldSimilarity]", "details": []}

    def respond(received: ReceivedRequest) -> Reply:
        if "/_explain/" in received.path:
            return json_reply({"matched": True, "explanation": tree})
        is_lookup = json.loads(received.body)["query"] == {"ids": {"values": ["sw"]}}
        raw = [{"_index": "films", "_id": "sw"}] if is_lookup else []
        return json_reply({"hits": {"total": {"value": len(raw)}, "hits": raw}})

    server.respond = respond
    template = json.dumps({"query": {"match": {"title": "#$query##"}}, **body})
    with connect(server) as engine:
        explanation = engine.explain(request(template), "sw")
    assert [failed.clause for failed in engines.failed_clauses(explanation)] == [clause]
    assert engines.matching_part(explanation).value == 1.5


def test_find_searches_text_that_is_not_in_the_syntax_as_it_is(server: LocalServer) -> None:
    def respond(received: ReceivedRequest) -> Reply:
        if json.loads(received.body)["query"]["query_string"]["query"] == "AC/DC":
            return json_reply({"error": {"reason": "Failed to parse query [AC/DC]"}, "status": 400}, 400)
        return fake_elasticsearch(received)

    server.respond = respond
    with connect(server) as engine:
        assert engine.find("AC/DC", request()).hits == ()
    sent = [json.loads(received.body)["query"]["query_string"]["query"] for received in server.received]
    assert sent[0] == "AC/DC" and sent[1].startswith("AC") and sent[1] != "AC/DC"


def test_interpret_reads_the_profile(server: LocalServer) -> None:
    with connect(server) as engine:
        interpretation = engine.interpret(request())
    assert interpretation.parts == (("Parsed query", '{"match": {"title": "star"}}'),)
    timings = [(timing.label, timing.milliseconds, timing.level) for timing in interpretation.timings]
    assert timings == [
        ("Whole search", 1, 0),
        ("Rewriting the query", 1, 1),
        ("TermQuery title:star", 2, 1),
        ("TopScoreDocCollector search_top_hits", 0.5, 1),
    ]
