"""Records of User Behavior Insights from real engines, over several pages."""

import json

import pytest
import urllib3

from relevancy import engines
from relevancy.engines import Connection
from tests.contracts.subject import LOOPBACK

SEARCHES = 2_500


@pytest.mark.parametrize("engine", ["opensearch", "elasticsearch"])
def test_records_of_two_shards_become_a_log(engine: str, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue(f"{engine}_server").url
    for index in ("ubi_queries", "ubi_events", "shop"):
        send("PUT", f"{url}/{index}", {"settings": {"number_of_shards": 2, "number_of_replicas": 0}})
    queries = [
        {
            "query_id": f"id-{number}",
            "user_query": f"query {number % 5}",
            "query_response_hit_ids": ["a", "b"],
            "timestamp": "2026-05-01T00:00:00Z" if number else "2020-01-01T00:00:00Z",
        }
        for number in range(SEARCHES)
    ]
    events = [
        {
            "query_id": f"id-{number}",
            "action_name": "click",
            "event_attributes": {"object": {"object_id": "b"}, "position": {"ordinal": 2}},
            "timestamp": "2026-05-01T00:00:00Z",
        }
        for number in range(0, SEARCHES, 10)
    ]
    load(url, "ubi_queries", queries)
    load(url, "ubi_events", events)
    with engines.connect(Connection(engine, f"{url}/shop", LOOPBACK)) as connected:
        ubi = pytest.importorskip("relevancy.optional.clicks.ubi")
        with ubi.read_ubi_index(connected) as log:
            assert int(log.counts().sum()) == SEARCHES
            assert sum(row.clicks for row in log.shown()) == len(events)
        assert len(list(connected.behaviour_records("queries"))) == SEARCHES
    for index in ("ubi_queries", "ubi_events", "shop"):
        send("DELETE", f"{url}/{index}")


def load(url: str, index: str, records: list[dict[str, object]]) -> None:
    lines = "".join(f'{{"index": {{}}}}\n{json.dumps(record)}\n' for record in records)
    send("POST", f"{url}/{index}/_bulk?refresh=true", lines)


def send(method: str, url: str, body: object = None) -> None:
    content = body if body is None or isinstance(body, str) else json.dumps(body)
    json_type = {"content-type": "application/json"}
    response = urllib3.request(method, url, body=content, headers=json_type, timeout=60.0, retries=False)
    assert response.status < 300, response.data
