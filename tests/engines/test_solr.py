"""Solr's addresses and parameters; its behaviour is in `tests/contracts` and `tests/live`."""

import json
from collections.abc import Iterator

import pytest

from relevancy import engines
from relevancy.engines import AddressRules, BadQuery, Connection, EndpointUnreachable, Request, TooSlow
from relevancy.engines.solr import core_and_handler
from relevancy.engines.solr_params import checked, field_list
from tests.contracts.fakes import fake_solr
from tests.contracts.local_server import LocalServer, Reply, json_reply, serving
from tests.contracts.stand import LOOPBACK


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with serving(fake_solr) as server:
        yield server


def ask(server: LocalServer, template: str) -> engines.Page:
    parsed = engines.parse_template(template, "params")
    with engines.connect(Connection("solr", f"{server.url}/solr/films", LOOPBACK)) as engine:
        return engine.search(Request("star", parsed, engines.parse_fields("id title"), 5, start=2))


@pytest.mark.parametrize(
    ("path", "core", "handler"),
    [
        ("/solr/products", "/solr/products", "select"),
        ("/solr/products/select", "/solr/products", "select"),
        ("/solr/products/browse", "/solr/products", "browse"),
        ("/search/solr/products/a/b", "/search/solr/products", "a/b"),
        ("/products", "/products", "select"),
        ("/proxy/products/select", "/proxy/products", "select"),
    ],
)
def test_core_and_handler(path: str, core: str, handler: str) -> None:
    assert core_and_handler(AddressRules().read("http://x.example" + path)) == (core, handler)


@pytest.mark.parametrize("path", ["", "/", "/solr", "/select", "/solr/products/update", "/solr/products/admin/luke"])
def test_core_and_handler_refuses(path: str) -> None:
    with pytest.raises(EndpointUnreachable):
        core_and_handler(AddressRules().read("http://x.example" + path))


REFUSED = [
    "shards", "shards.qt", "shards.info", "shard.url", "stream.url", "stream.file", "stream.body", "qt", "wt", "tr",
    "json.wrf", "json.params", "json.params.shards", "collection", "v.template",
]  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_checked_refuses_what_reaches_elsewhere(name: str) -> None:
    with pytest.raises(BadQuery, match=f"“{name}”"):
        checked([("q", "x"), (name, "http://elsewhere.example")])


@pytest.mark.parametrize("name", ["shards", "stream.url", "wt", "qt"])
def test_checked_refuses_it_within_json_too(name: str) -> None:
    with pytest.raises(BadQuery, match=f"“{name}”"):
        checked([("json", json.dumps({"query": "x", "params": {name: "y"}}))])


@pytest.mark.parametrize("body", ["{params: {shards: 'x'}}", "[1]", '{"params": [1]}', "", '{"a": 1} // shards'])
def test_checked_refuses_json_it_cannot_see_through(body: str) -> None:
    with pytest.raises(BadQuery, match="JSON"):
        checked([("json", body)])


def test_checked_keeps_order_and_repeats() -> None:
    pairs = [("q", "x"), ("fq", "a"), ("bq", "b"), ("fq", "c"), ("shardsy", "1"), ("wtf", "2"), ("f.title.hl", "3")]
    assert checked(pairs) == pairs


def test_checked_leaves_out_what_is_ours() -> None:
    assert checked([("rows", "1"), ("fl", "x"), ("q", "x"), ("start", "3"), ("debugQuery", "on")]) == [("q", "x")]
    ((_, body),) = checked([("json", '{"query": "x", "limit": 1, "offset": 2, "params": {"rows": 3, "q.op": "AND"}}')])
    assert json.loads(body) == {"query": "x", "params": {"q.op": "AND"}}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("id title cast", "id,title,cast,score"),
        ("", "*,id,score"),
        ("id:sku title f:$price", "sku,title,price:$price,score"),
    ],
)
def test_field_list(spec: str, expected: str) -> None:
    assert set(field_list(engines.parse_fields(spec)).split(",")) == set(expected.split(","))


def test_search_posts_and_our_depth_wins(server: LocalServer) -> None:
    page = ask(server, "q=#$query##&rows=1000&fl=secret&start=9&fq=a&fq=b")
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", "/solr/films/select")
    assert asked.body.decode().split("&")[:3] == ["q=star", "fq=a", "fq=b"]
    params = [tuple(pair) for pair in page.sent["params"]]
    assert params.count(("rows", "5")) == params.count(("start", "2")) == 1
    assert "1000" not in asked.body.decode()
    assert "secret" not in asked.body.decode()


def test_search_of_partial_results_is_too_slow(server: LocalServer) -> None:
    header = {"status": 0, "partialResults": True}
    server.answer = lambda asked: json_reply({"responseHeader": header, "response": {"numFound": 0, "docs": []}})
    with pytest.raises(TooSlow, match="timeAllowed"):
        ask(server, "q=#$query##&timeAllowed=1")


def test_numeric_ids_become_text(server: LocalServer) -> None:
    server.answer = lambda asked: json_reply({"response": {"numFound": 1, "docs": [{"id": 17, "score": 1}]}})
    assert ask(server, "q=x").hits[0].id == "17"


def test_fields_from_the_schema_where_luke_is_closed(server: LocalServer) -> None:
    def closed(asked: object) -> Reply:
        path = getattr(asked, "path", "")
        return Reply(b"", 403) if "luke" in path else json_reply({"fields": [{"name": "title"}, {"name": "id"}]})

    server.answer = closed
    with engines.connect(Connection("solr", f"{server.url}/solr/films", LOOPBACK)) as engine:
        assert engine.fields() == ["id", "title"]


def test_version_where_only_searching_is_allowed(server: LocalServer) -> None:
    server.answer = lambda asked: Reply(b"", 403) if "system" in asked.path else fake_solr(asked)
    with engines.connect(Connection("solr", f"{server.url}/solr/films", LOOPBACK)) as engine:
        assert engine.version() == "Solr"
