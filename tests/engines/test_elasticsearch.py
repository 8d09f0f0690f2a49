"""Elasticsearch's addresses, bodies and words; its behaviour is in `tests/contracts` and `tests/live`."""

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
    UnreadableAnswer,
)
from relevancy.engines.dsl_answers import own_message, source_filter
from relevancy.engines.dsl_index import prefix_and_index
from tests.contracts.fakes import fake_elasticsearch
from tests.contracts.local_server import Asked, LocalServer, Reply, json_reply, serving
from tests.contracts.stand import LOOPBACK

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
        ("/es/eu/products,films*", ("/es/eu", "products,films*")),
    ],
)
def test_prefix_and_index(path: str, expected: tuple[str, str]) -> None:
    assert prefix_and_index(AddressRules().read("http://x.example" + path)) == expected


@pytest.mark.parametrize("path", ["", "/", "/_search", "/products/_delete_by_query", "/_cluster"])
def test_prefix_and_index_refuses(path: str) -> None:
    with pytest.raises(EndpointUnreachable, match="names no index"):
        prefix_and_index(AddressRules().read("http://x.example" + path))


def test_search_sends_plain_json(server: LocalServer) -> None:
    with connect(server) as engine:
        engine.search(request())
        list(engine.search_many([request(), request()]))
    one, many = server.asked
    assert (one.headers["accept"], one.headers["content-type"]) == ("application/json", "application/json")
    assert (many.headers["accept"], many.headers["content-type"]) == ("application/json", "application/x-ndjson")
    assert many.path == "/films/_msearch?max_concurrent_searches=8"


def test_search_our_depth_wins(server: LocalServer) -> None:
    text = '{"query": {"match": {"title": "#$query##"}}, "size": 1000, "from": 7, "_source": "secret", "explain": true}'
    with connect(server) as engine:
        engine.search(request(text))
    body = json.loads(server.asked[0].body)
    assert body == {
        "query": {"match": {"title": "star"}},
        "from": 1,
        "size": 5,
        "_source": ["title"],
        "track_total_hits": True,
    }


def test_search_keeps_the_path_before_the_index(server: LocalServer) -> None:
    def prefixed(asked: Asked) -> Reply:
        return fake_elasticsearch(replace(asked, path=asked.path.removeprefix("/es")))

    server.answer = prefixed
    with connect(server, "/es/films") as engine:
        assert engine.search(request()).sent["url"] == f"{server.url}/es/films/_search"
        assert engine.version() == "Elasticsearch 9.4.3"
    assert [asked.path for asked in server.asked] == ["/es/films/_search", "/es/films/_search", "/es/"]


def test_search_many_asks_in_batches(server: LocalServer) -> None:
    with connect(server, parallel=4) as engine:
        outcomes = list(engine.search_many([request() for _ in range(250)]))
    assert len(outcomes) == 250
    assert [asked.path for asked in server.asked] == [
        "/films/_msearch?max_concurrent_searches=2"
    ] * 3  # two batches at once


def test_search_many_too_large_together_is_asked_alone(server: LocalServer) -> None:
    def tight(asked: Asked) -> Reply:
        reply = fake_elasticsearch(asked)
        return replace(reply, length=21 * 1024 * 1024) if "_msearch" in asked.path else reply

    server.answer = tight
    with connect(server) as engine:
        outcomes = dict(engine.search_many([request() for _ in range(250)]))
    assert len(outcomes) == 250
    assert all(isinstance(outcome, Page) for outcome in outcomes.values())
    # Batches under way when the first failed are let go, no more are begun.
    assert sum("_msearch" in asked.path for asked in server.asked) <= 3


def test_search_many_shows_what_failed_all(server: LocalServer) -> None:
    server.answer = lambda asked: Reply(b"", 401)
    with connect(server) as engine:
        outcomes = list(engine.search_many([request() for _ in range(3)]))
    assert [type(outcome).__name__ for _, outcome in outcomes] == ["EndpointRefused"] * 3
    assert len(server.asked) == 1


def test_search_many_of_a_batch_with_other_answers(server: LocalServer) -> None:
    items = [
        {"took": 7, "status": 200, "hits": {"total": {"value": 0}, "hits": []}},
        {"status": 429, "error": {"type": "es_rejected_execution_exception", "reason": "queue is full"}},
        {"status": 200, "hits": None},
    ]
    server.answer = lambda asked: json_reply({"responses": items})
    with connect(server) as engine:
        outcomes = dict(engine.search_many([request() for _ in range(3)]))
    first = outcomes[0]
    assert isinstance(first, Page)
    assert first.took_ms == 7
    assert "queue is full" in str(outcomes[1])
    assert isinstance(outcomes[2], UnreadableAnswer)


def test_search_of_another_product(server: LocalServer) -> None:
    server.answer = lambda asked: Reply(b"{}", 200, {"content-type": "application/json"})
    with connect(server) as engine, pytest.raises(UnreadableAnswer, match="OpenSearch"):
        engine.search(request())


@pytest.mark.filterwarnings("error")
def test_search_ignores_warnings_of_the_server(server: LocalServer) -> None:
    def warning(asked: Asked) -> Reply:
        reply = fake_elasticsearch(asked)
        return replace(reply, headers={**reply.headers, "warning": '299 Elasticsearch "deprecated"'})

    server.answer = warning
    with connect(server) as engine:
        assert engine.search(request()).total == 3


def test_search_of_a_part_of_the_shards(server: LocalServer) -> None:
    shards = {"total": 5, "failed": 2, "failures": [{"reason": {"type": "x", "reason": "disk is gone"}}]}
    server.answer = lambda asked: json_reply({"_shards": shards, "hits": {"hits": []}})
    with connect(server) as engine, pytest.raises(BadQuery, match=r"2 of 5 shards failed: disk is gone"):
        engine.search(request())


def test_search_timed_out(server: LocalServer) -> None:
    server.answer = lambda asked: json_reply({"timed_out": True, "hits": {"hits": []}})
    with connect(server) as engine, pytest.raises(TooSlow):
        engine.search(request())


def test_search_total_of_old_servers_and_of_none(server: LocalServer) -> None:
    with connect(server) as engine:
        server.answer = lambda asked: json_reply({"hits": {"total": 12, "hits": []}})
        assert engine.search(request()).total == 12
        server.answer = lambda asked: json_reply({"hits": {"hits": []}})
        assert engine.search(request()).total is None


def test_version_where_the_cluster_is_closed(server: LocalServer) -> None:
    server.answer = lambda asked: Reply(b"", 403) if asked.path == "/" else fake_elasticsearch(asked)
    with connect(server) as engine:
        assert engine.version() == "Elasticsearch"


def test_fields_leaves_out_objects_and_metadata(server: LocalServer) -> None:
    caps = {
        "title": {"text": {"type": "text"}},
        "maker": {"object": {"type": "object"}},
        "maker.name": {"keyword": {"type": "keyword"}},
        "_doc_count": {"long": {"type": "long", "metadata_field": True}},
    }
    server.answer = lambda asked: json_reply({"fields": caps})
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
def test_own_message(error: Any, message: str) -> None:
    assert own_message({"error": error}) == message


@pytest.mark.parametrize(
    ("spec", "expected"), [("", True), ("id:_id title:_id", False), ("id:sku title:name", ["sku", "name"])]
)
def test_source_filter(spec: str, expected: Any) -> None:
    assert source_filter(engines.parse_fields(spec, "_id")) == expected
