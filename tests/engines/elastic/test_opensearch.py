"""OpenSearch's client; `tests/contracts` and `tests/live` test its behaviour."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from relevancy import engines
from relevancy.engines import Connection, EndpointUnreachable, Page, Request, UnreadableResponse
from tests.contracts.fakes import as_opensearch, fake_elasticsearch, fake_opensearch
from tests.contracts.local_server import LocalServer, ReceivedRequest, Reply, json_reply, serving
from tests.contracts.subject import LOOPBACK

MATCH = '{"query": {"match": {"title": "#$query##"}}}'


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with serving(fake_opensearch) as server:
        yield server


def connect(server: LocalServer, path: str = "/films", **changes: Any) -> engines.Engine:
    return engines.connect(Connection("opensearch", server.url + path, LOOPBACK, **changes))


def request(template: str = MATCH, **changes: Any) -> Request:
    return Request("star", engines.parse_template(template, "json"), engines.parse_fields("title", "_id"), 5, **changes)


def test_search_sends_plain_json(server: LocalServer) -> None:
    with connect(server, parallel=4) as engine:
        engine.search(request())
        list(engine.search_many([request()] * 250))
    one, *many = server.received
    assert (one.path, one.headers["accept"], one.headers["content-type"]) == (
        "/films/_search", "application/json", "application/json",
    )  # fmt: skip
    assert [received.path for received in many] == [
        "/films/_msearch?max_concurrent_searches=2"
    ] * 3  # two batches at a time
    assert {received.headers["content-type"] for received in many} == {"application/json"}  # as its client does
    assert len(many[0].body.splitlines()) == 200


def test_search_keeps_the_path_before_the_index(server: LocalServer) -> None:
    server.respond = lambda received: fake_opensearch(replace(received, path=received.path.removeprefix("/os")))
    with connect(server, "/os/films/_search") as engine:
        assert engine.search(request()).rendered_request["url"] == f"{server.url}/os/films/_search"
        assert engine.version() == "OpenSearch 3.8.0"
    assert [received.path for received in server.received] == ["/os/films/_search", "/os/films/_search", "/os/"]


def test_search_of_elasticsearch(server: LocalServer) -> None:
    server.respond = fake_elasticsearch
    with connect(server) as engine:
        for call in (lambda: engine.search(request()), engine.version):
            with pytest.raises(UnreadableResponse, match="it is Elasticsearch, not OpenSearch"):
                call()


@pytest.mark.filterwarnings("error")
def test_search_ignores_warnings_of_the_server(server: LocalServer) -> None:
    def warning(received: ReceivedRequest) -> Reply:
        reply = fake_opensearch(received)
        return replace(reply, headers={**reply.headers, "warning": '299 OpenSearch "deprecated"'})

    server.respond = warning
    with connect(server) as engine:
        assert engine.search(request()).total == 3


def test_search_uses_its_own_highlighting_parameter(server: LocalServer) -> None:
    with connect(server) as engine:
        engine.search(request(highlight=True))
    highlight = json.loads(server.received[0].body)["highlight"]
    assert highlight["max_analyzer_offset"] == 10_000
    assert "max_analyzed_offset" not in highlight


def test_search_without_highlights_if_they_are_rejected(server: LocalServer) -> None:
    """OpenSearch 2.0 and 2.1 do not know `max_analyzer_offset`."""

    def old_version(received: ReceivedRequest) -> Reply:
        if b'"highlight"' not in received.body:
            return fake_opensearch(received)
        if b"_msearch" in received.path.encode():
            count = len(received.body.splitlines()) // 2
            error = {"type": "x_content_parse_exception", "reason": "[highlight] unknown field"}
            return as_opensearch(json_reply({"responses": [{"status": 400, "error": error}] * count}))
        return as_opensearch(json_reply({"error": {"reason": "[highlight] unknown field"}, "status": 400}, 400))

    server.respond = old_version
    with connect(server) as engine:
        page = engine.search(request(highlight=True))
        many = dict(engine.search_many([request(highlight=True)] * 2))
    assert page.total == 3
    assert len(many) == 2
    assert all(isinstance(outcome, Page) and outcome.hits == page.hits for outcome in many.values())


def test_search_keeps_hybrid_queries_and_pipelines(server: LocalServer) -> None:
    near = {"knn": {"v": {"vector": [0.1, 2], "k": 5}}}
    body = {
        "query": {"hybrid": {"queries": [{"match": {"title": "#$query##"}}, near], "pagination_depth": 50}},
        "search_pipeline": {"phase_results_processors": [{"normalization-processor": {}}]},
        "ext": {"rerank": {}},
    }
    server.respond = lambda received: as_opensearch(json_reply({"hits": {"total": {"value": 0}, "hits": []}}))
    with connect(server) as engine:
        engine.search(request(json.dumps(body)))
        engine.search(request(json.dumps(body), start=10))
    first, second = (json.loads(received.body) for received in server.received)
    rendered = json.loads(json.dumps(body).replace("#$query##", "star"))
    assert first == {**rendered, "size": 5, "_source": ["title"], "track_total_hits": True}
    assert second == {**first, "from": 10}


def test_connect_without_an_index() -> None:
    with pytest.raises(EndpointUnreachable, match="names no index"):
        engines.connect(Connection("opensearch", "http://search.example:9200", LOOPBACK))
