"""Solr's addresses and parameters; its behaviour is in `tests/contracts` and `tests/live`."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from relevancy import engines
from relevancy.engines import AddressRules, BadQuery, Connection, EndpointUnreachable, Request, TooSlow
from relevancy.engines.solr import core_and_handler
from relevancy.engines.solr_params import checked, field_list
from tests.contracts.fakes import fake_solr
from tests.contracts.local_server import Asked, LocalServer, Reply, json_reply, serving
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


@pytest.mark.parametrize("name", ["shards", "stream.url", "wt", "qt", "json", "json.params.shards", "collection"])
def test_search_json_refuses_what_reaches_elsewhere(server: LocalServer, name: str) -> None:
    with pytest.raises(BadQuery, match=f"“{name}”"):
        ask(server, json.dumps({"query": "#$query##", "params": {name: "http://elsewhere.example"}}))
    assert not server.asked


@pytest.mark.parametrize("text", ['{"query": "x", "params": [1]}', '{"query": "x", "params": "shards=x"}'])
def test_search_json_with_other_params(server: LocalServer, text: str) -> None:
    with pytest.raises(BadQuery, match="params"):
        ask(server, text)


def test_search_json_is_posted_as_json(server: LocalServer) -> None:
    server.answer = lambda asked: json_reply({"response": {"numFound": 1, "docs": [{"id": "1", "score": 1}]}})
    text = """ {"query": {"edismax": {"query": "#$query##", "qf": "title^##b##"}}, "filter": "a:b", "limit": 99, "offset": 3,
      "fields": "secret", "params": {"rows": 7, "q.op": "AND", "fq": "c:d"}}"""
    parsed = engines.parse_template(text, "params")
    with engines.connect(Connection("solr", f"{server.url}/solr/films", LOOPBACK)) as engine:
        request = Request('say "star"', parsed, engines.parse_fields("id title"), 5, start=2, knobs={"b": 2})
        page = engine.search(request)
        assert page.sent == engine.render(request)
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", "/solr/films/select")
    assert asked.headers["content-type"].startswith("application/json")
    body = json.loads(asked.body)
    assert body == page.sent["body"]
    assert body["query"] == {"edismax": {"query": 'say "star"', "qf": "title^2"}}
    assert body["filter"] == "a:b"
    assert not {"limit", "offset", "fields"} & set(body)
    ours = {"rows": "5", "start": "2", "fl": "id,title,score", "wt": "json"}
    assert {**ours, "q.op": "AND", "fq": "c:d"}.items() <= body["params"].items()


def test_explain_json_adds_its_filter_to_those_there_are(server: LocalServer) -> None:
    tree = {"match": True, "value": 1.5, "description": "weight(title:star in 0)", "details": []}
    server.answer = lambda asked: json_reply({"response": {"docs": []}, "debug": {"explain": {"1": tree}}})
    text = '{"query": "#$query##", "filter": ["a:b"]}'
    request = Request("star", engines.parse_template(text, "params"), engines.parse_fields("id title"), 5)
    with engines.connect(Connection("solr", f"{server.url}/solr/films", LOOPBACK)) as engine:
        assert engine.explain(request, "1")["value"] == 1.5
    assert json.loads(server.asked[0].body)["filter"] == ["a:b", "{!term f='id'}1"]


def test_search_asks_for_highlights_of_patterns(server: LocalServer) -> None:
    own = "&hl=off&hl.fl=secret&hl.tag.pre=<b>&f.title.hl.simple.post=x&hl.method=fastVector&hl.fragsize=20&hl.q=a&h=b"
    template = engines.parse_template("q=#$query##" + own, "params")
    with engines.connect(Connection("solr", f"{server.url}/solr/films", LOOPBACK)) as engine:
        request = Request("star", template, engines.parse_fields("id title overview f:$x"), 5)
        plain = engine.render(request)["params"]
        params = engine.render(replace(request, highlight=True))["params"]
    assert ["hl.tag.pre", "<b>"] in plain
    names = [name for name, _ in params]
    assert len(names) == len(set(names))
    assert dict(params)["hl.fl"] == "t*itle o*verview"
    assert dict(params)["hl.tag.pre"] == dict(params)["hl.simple.pre"] == "\ue000\ue000"
    assert {"hl.method": "fastVector", "hl.fragsize": "20", "hl.q": "a", "h": "b", "hl": "true"}.items() <= dict(
        params
    ).items()


def test_search_with_refused_highlights_is_asked_without(server: LocalServer) -> None:
    def refusing(asked: Asked) -> Reply:
        error = {"error": {"msg": "cannot highlight", "code": 400}}
        return json_reply(error, 400) if b"hl=true" in asked.body else fake_solr(asked)

    server.answer = refusing
    template = engines.parse_template("q=#$query##", "params")
    with engines.connect(Connection("solr", f"{server.url}/solr/films", LOOPBACK)) as engine:
        page = engine.search(Request("star", template, engines.parse_fields("id title"), 5, highlight=True))
    assert page.total == 3
    assert len(server.asked) == 2


def test_search_highlights_where_another_field_is_the_id(server: LocalServer) -> None:
    docs = [{"sku": 7, "title": "A star"}, {"sku": 8, "title": "No such"}]
    marks = {"u1": {"title": ["A \ue000\ue000star\ue001\ue001"]}, "u2": {}}
    server.answer = lambda asked: json_reply({"response": {"numFound": 2, "docs": docs}, "highlighting": marks})
    template = engines.parse_template("q=#$query##", "params")
    with engines.connect(Connection("solr", f"{server.url}/solr/films", LOOPBACK)) as engine:
        page = engine.search(Request("star", template, engines.parse_fields("id:sku title"), 5, highlight=True))
    assert [dict(hit.highlights) for hit in page.hits] == [{"title": "A \ue000star\ue001"}, {}]


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
