"""Records of User Behavior Insights: two fixed indexes next to that of the endpoint, scrolled through."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from relevancy import engines
from relevancy.engines import Connection, EngineError
from tests.contracts.fakes import as_opensearch
from tests.contracts.local_server import LocalServer, ReceivedRequest, Reply, json_reply, serving
from tests.contracts.subject import LOOPBACK

RECORDS = [{"query_id": str(number), "user_query": f"query {number}"} for number in range(5)]


def hits(records: list[dict[str, Any]], scroll_id: str = "s1") -> Reply:
    hits = [{"_index": "ubi_queries", "_id": record["query_id"], "_source": record} for record in records]
    return json_reply({"_scroll_id": scroll_id, "took": 1, "hits": {"total": {"value": 5}, "hits": hits}})


def respond(received: ReceivedRequest) -> Reply:
    if received.path == "/os/ubi_queries/_search?scroll=2m":
        return hits(RECORDS[:3])
    if received.method == "DELETE":
        return json_reply({"succeeded": True})
    body = json.loads(received.body)
    return hits(RECORDS[3:], "s2") if body["scroll_id"] == "s1" else hits([], "s2")


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with serving(lambda received: as_opensearch(respond(received))) as server:
        yield server


def connect(server: LocalServer, engine: str = "opensearch") -> engines.Engine:
    return engines.connect(Connection(engine, server.url + "/os/films", LOOPBACK))


def test_all_records_are_read_and_the_scroll_is_ended(server: LocalServer) -> None:
    with connect(server) as engine:
        assert list(engine.behaviour_records("queries", since=datetime(2026, 5, 1, tzinfo=UTC))) == RECORDS
    first, second, third, last = server.received
    body = json.loads(first.body)
    assert (body["size"], body["query"]["range"]["timestamp"]["gte"]) == (1_000, "2026-05-01T00:00:00+00:00")
    assert "user_query" in body["_source"] and "user_id" not in body["_source"]
    assert [json.loads(item.body)["scroll_id"] for item in (second, third)] == ["s1", "s2"]
    assert (last.method, last.path, json.loads(last.body)) == ("DELETE", "/os/_search/scroll", {"scroll_id": "s2"})


def test_reading_can_stop_at_any_record(server: LocalServer) -> None:
    with connect(server) as engine:
        records = engine.behaviour_records("queries")
        assert next(records) == RECORDS[0]
        records.close()  # type: ignore[attr-defined]
    assert [item.method for item in server.received] == ["POST", "DELETE"]


def test_a_missing_index_is_an_error_of_the_engine(server: LocalServer) -> None:
    server.respond = lambda received: as_opensearch(
        json_reply(
            {"error": {"type": "index_not_found_exception", "reason": "no such index [ubi_events]"}, "status": 404}, 404
        )
    )
    with connect(server) as engine, pytest.raises(EngineError, match="no such index"):
        list(engine.behaviour_records("events"))


def test_other_engines_have_none() -> None:
    solr = engines.get("solr")
    assert not solr.abilities.behaviour
    assert engines.get("elasticsearch").abilities.behaviour
