"""Solr's addresses and requests; `tests/contracts` and `tests/live` test its behaviour."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from relevancy import engines
from relevancy.engines import AddressRules, BadQuery, Connection, EndpointUnreachable, Request, TooSlow
from relevancy.engines.solr.engine import SolrEngine, core_and_handler
from relevancy.engines.solr.parameters import allowed_parameters, field_list
from tests.contracts.fakes import fake_solr
from tests.contracts.local_server import LocalServer, ReceivedRequest, Reply, json_reply, serving
from tests.contracts.subject import LOOPBACK


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with serving(fake_solr) as server:
        yield server


def search(server: LocalServer, template: str) -> engines.Page:
    parsed = engines.parse_template(template, "params")
    with engines.connect(Connection("solr", f"{server.url}/solr/films", LOOPBACK)) as engine:
        return engine.search(Request("star", parsed, engines.parse_fields("id title"), 5, start=2))


@pytest.mark.parametrize(
    ("path", "core", "handler"),
    [
        ("/solr/products", "/solr/products", "select"),
        ("/solr/products/select", "/solr/products", "select"),
        ("/solr/products/query", "/solr/products", "query"),
        ("/solr/products/browse", "/solr/products", "browse"),
        ("/search/solr/products/a/b", "/search/solr/products", "a/b"),
        ("/solr/products,films", "/solr/products,films", "select"),
        ("/products", "/products", "select"),
        ("/proxy/products/select", "/proxy/products", "select"),
    ],
)
def test_core_and_handler(path: str, core: str, handler: str) -> None:
    address = AddressRules().parse_url("http://x.example" + path)
    assert core_and_handler(address, ("browse", "a/b")) == (core, handler)


@pytest.mark.parametrize("path", ["", "/", "/solr", "/select", "/solr/products/update", "/solr/products/admin/luke"])
def test_core_and_handler_rejects(path: str) -> None:
    with pytest.raises(EndpointUnreachable):
        core_and_handler(AddressRules().parse_url("http://x.example" + path))


REFUSED = [
    "shards", "shards.qt", "shards.info", "shard.url", "stream.url", "stream.file", "stream.body", "qt", "wt", "tr",
    "json.wrf", "json.params", "json.params.shards", "v.template", "x.shards", "x.y.qt", "x.stream.body", "spellcheck.build",
    "solrUrl", "${a}", "sha${a}rds",
]  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_allowed_parameters_refuses(name: str) -> None:
    with pytest.raises(BadQuery, match=re.escape(f"“{name}”")):
        allowed_parameters([("q", "x"), (name, "http://elsewhere.example")])


@pytest.mark.parametrize("name", ["shards", "stream.url", "wt", "qt"])
def test_allowed_parameters_refuses_in_json(name: str) -> None:
    with pytest.raises(BadQuery, match=f"“{name}”"):
        allowed_parameters([("json", json.dumps({"query": "x", "params": {name: "y"}}))])


@pytest.mark.parametrize("name", ["shards", "stream.url", "wt", "qt", "json", "json.params.shards", "collection"])
def test_search_json_refuses_parameters(server: LocalServer, name: str) -> None:
    with pytest.raises(BadQuery, match=f"“{name}”"):
        search(server, json.dumps({"query": "#$query##", "params": {name: "http://elsewhere.example"}}))
    assert not server.received


@pytest.mark.parametrize("text", ['{"query": "x", "params": [1]}', '{"query": "x", "params": "shards=x"}'])
def test_search_json_with_invalid_params(server: LocalServer, text: str) -> None:
    with pytest.raises(BadQuery, match="params"):
        search(server, text)


def test_search_json_is_posted_as_json(server: LocalServer) -> None:
    server.respond = lambda received: json_reply({"response": {"numFound": 1, "docs": [{"id": "1", "score": 1}]}})
    text = """ {"query": {"edismax": {"query": "#$query##", "qf": "title^##b##"}}, "filter": "a:b", "limit": 99, "offset": 3,
      "fields": "secret", "params": {"rows": 7, "q.op": "AND", "fq": "c:d"}}"""
    parsed = engines.parse_template(text, "params")
    with engines.connect(Connection("solr", f"{server.url}/solr/films", LOOPBACK)) as engine:
        request = Request('say "star"', parsed, engines.parse_fields("id title"), 5, start=2, knobs={"b": 2})
        page = engine.search(request)
        assert page.rendered_request == engine.render(request)
    (received,) = server.received
    assert (received.method, received.path) == ("POST", "/solr/films/select")
    assert received.headers["content-type"].startswith("application/json")
    body = json.loads(received.body)
    assert body == page.rendered_request["body"]
    assert body["query"] == {"edismax": {"query": 'say "star"', "qf": "title^2"}}
    assert body["filter"] == "a:b"
    assert not {"limit", "offset", "fields"} & set(body)
    expected = {"rows": "5", "start": "2", "fl": "id,title,score", "wt": "json"}
    assert {**expected, "q.op": "AND", "fq": "c:d"}.items() <= body["params"].items()


def test_explain_json_keeps_the_filters_of_the_template(server: LocalServer) -> None:
    tree = {"match": True, "value": 1.5, "description": "weight(title:star in 0)", "details": []}
    server.respond = lambda received: json_reply({"response": {"docs": []}, "debug": {"explain": {"1": tree}}})
    text = '{"query": "#$query##", "filter": ["a:b"]}'
    request = Request("star", engines.parse_template(text, "params"), engines.parse_fields("id title"), 5)
    with engines.connect(Connection("solr", f"{server.url}/solr/films", LOOPBACK)) as engine:
        assert engine.explain(request, "1")["value"] == 1.5
    assert json.loads(server.received[0].body)["filter"] == ["a:b", "{!term f='id'}1"]


@pytest.mark.parametrize(
    "text",
    [
        "q=#$query##&fq=genre:comedy&fq=year:2001&sort=year asc&genres=x",
        '{"query": "#$query##", "filter": ["genre:comedy", "year:2001"], "sort": "year asc", "params": {"genres": "x"}}',
    ],
)
def test_explain_names_the_filter_that_leaves_a_document_out(server: LocalServer, text: str) -> None:
    """Each filter is tried on its own, with the other parameters, to which it may refer."""
    tree = {"match": True, "value": 1.5, "description": "weight(title:star in 0)", "details": []}

    def respond(received: ReceivedRequest) -> Reply:
        sent = received.body.decode()
        documents = [{"id": "1"}] if "fq=year" in sent or '"filter": ["year:2001"]' in sent else []
        other = {"explainOther": {"1": tree}} if "explainOther" in sent else {}
        return json_reply({"response": {"numFound": 0, "docs": documents}, "debug": {"explain": {}, **other}})

    server.respond = respond
    request = Request("star", engines.parse_template(text, "params"), engines.parse_fields("id title"), 5)
    with engines.connect(Connection("solr", f"{server.url}/solr/films", LOOPBACK)) as engine:
        explanation = engine.explain(request, "1")
    assert [failed.clause for failed in engines.failed_clauses(explanation)] == ["fq=genre:comedy"]
    assert engines.matching_part(explanation).value == 1.5
    tried = [received.body.decode() for received in server.received[2:]]
    assert len(tried) == 2 and all("genres" in sent and "sort" not in sent for sent in tried)


def test_find_leaves_out_displayed_fields_that_the_index_lacks(server: LocalServer) -> None:
    def respond(received: ReceivedRequest) -> Reply:
        if b"qf=id+nosuch" in received.body:
            return json_reply({"error": {"msg": "Query Field 'nosuch' is not a valid field name", "code": 400}}, 400)
        return fake_solr(received)

    server.respond = respond
    template = engines.parse_template("q=#$query##&qf=title^##boost## year", "params")
    request = Request("x", template, engines.parse_fields("id nosuch genres"), 5, knobs={"boost": 3})
    with engines.connect(Connection("solr", f"{server.url}/solr/films", LOOPBACK)) as engine:
        assert [hit.id for hit in engine.find("wars", request).hits] == ["sw"]
    assert b"qf=id+genres+title+year" in server.received[-1].body


def test_search_requests_highlights_by_pattern(server: LocalServer) -> None:
    highlighting = (
        "&hl=off&hl.fl=secret&hl.tag.pre=<b>&f.title.hl.simple.post=x&hl.method=fastVector&hl.fragsize=20&hl.q=a&h=b"
    )
    template = engines.parse_template("q=#$query##" + highlighting, "params")
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


def test_search_without_highlights_if_they_are_rejected(server: LocalServer) -> None:
    def reject_highlighting(received: ReceivedRequest) -> Reply:
        error = {"error": {"msg": "cannot highlight", "code": 400}}
        return json_reply(error, 400) if b"hl=true" in received.body else fake_solr(received)

    server.respond = reject_highlighting
    template = engines.parse_template("q=#$query##", "params")
    with engines.connect(Connection("solr", f"{server.url}/solr/films", LOOPBACK)) as engine:
        page = engine.search(Request("star", template, engines.parse_fields("id title"), 5, highlight=True))
    assert page.total == 3
    assert len(server.received) == 2


def test_search_highlights_with_another_id_field(server: LocalServer) -> None:
    docs = [{"sku": 7, "title": "A star"}, {"sku": 8, "title": "No such"}]
    highlighting = {"u1": {"title": ["A \ue000\ue000star\ue001\ue001"]}, "u2": {}}
    server.respond = lambda received: json_reply(
        {"response": {"numFound": 2, "docs": docs}, "highlighting": highlighting}
    )
    template = engines.parse_template("q=#$query##", "params")
    with engines.connect(Connection("solr", f"{server.url}/solr/films", LOOPBACK)) as engine:
        page = engine.search(Request("star", template, engines.parse_fields("id:sku title"), 5, highlight=True))
    assert [dict(hit.highlights) for hit in page.hits] == [{"title": "A \ue000star\ue001"}, {}]


@pytest.mark.parametrize("body", ["{params: {shards: 'x'}}", "[1]", '{"params": [1]}', "", '{"a": 1} // shards'])
def test_allowed_parameters_refuses_lenient_json(body: str) -> None:
    with pytest.raises(BadQuery, match="JSON"):
        allowed_parameters([("json", body)])


def test_allowed_parameters_keeps_order_and_repetitions() -> None:
    pairs = [("q", "x"), ("fq", "a"), ("bq", "b"), ("fq", "c"), ("shardsy", "1"), ("wtf", "2"), ("f.title.hl", "3")]
    assert allowed_parameters(pairs) == pairs


def test_allowed_parameters_drops_those_of_the_adapter() -> None:
    assert allowed_parameters([("rows", "1"), ("fl", "x"), ("q", "x"), ("start", "3"), ("debugQuery", "on")]) == [
        ("q", "x")
    ]
    ((_, body),) = allowed_parameters(
        [("json", '{"query": "x", "limit": 1, "offset": 2, "params": {"rows": 3, "q.op": "AND"}}')]
    )
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


def test_search_posts_and_overrides_depth(server: LocalServer) -> None:
    page = search(server, "q=#$query##&rows=1000&fl=secret&start=9&fq=a&fq=b")
    (received,) = server.received
    assert (received.method, received.path) == ("POST", "/solr/films/select")
    assert received.body.decode().split("&")[:3] == ["q=star", "fq=a", "fq=b"]
    params = [tuple(pair) for pair in page.rendered_request["params"]]
    assert params.count(("rows", "5")) == params.count(("start", "2")) == 1
    assert "1000" not in received.body.decode()
    assert "secret" not in received.body.decode()


def test_search_with_partial_results_is_too_slow(server: LocalServer) -> None:
    header = {"status": 0, "partialResults": True}
    server.respond = lambda received: json_reply({"responseHeader": header, "response": {"numFound": 0, "docs": []}})
    with pytest.raises(TooSlow, match="timeAllowed"):
        search(server, "q=#$query##&timeAllowed=1")


def test_search_converts_numeric_ids(server: LocalServer) -> None:
    server.respond = lambda received: json_reply({"response": {"numFound": 1, "docs": [{"id": 17, "score": 1}]}})
    assert search(server, "q=x").hits[0].id == "17"


def test_fields_from_the_schema_if_luke_is_forbidden(server: LocalServer) -> None:
    def forbid_luke(received: object) -> Reply:
        path = getattr(received, "path", "")
        return Reply(b"", 403) if "luke" in path else json_reply({"fields": [{"name": "title"}, {"name": "id"}]})

    server.respond = forbid_luke
    with engines.connect(Connection("solr", f"{server.url}/solr/films", LOOPBACK)) as engine:
        assert engine.fields() == ["id", "title"]


def test_version_if_only_searching_is_allowed(server: LocalServer) -> None:
    server.respond = lambda received: Reply(b"", 403) if "system" in received.path else fake_solr(received)
    with engines.connect(Connection("solr", f"{server.url}/solr/films", LOOPBACK)) as engine:
        assert engine.version() == "Solr"


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("q=x&deftype=edismax", [("deftype", "defType", 1, 5)]),
        ("q=x\nqff=title\n&f.title.hl.fragsize=3", [("qff", "qf", 2, 1)]),
        ("q=x&qfs=title&mm =2", [("qfs", "qf", 1, 5), ("mm ", "mm", 1, 15)]),
        ("q=x&hlfl=a\n&MM=2", [("hlfl", "hl.fl", 1, 5), ("MM", "mm", 2, 2)]),
        ("q={!boost b=$boosts v=$qq}&qq=#$query##&boosts=x&bq={!func v=${rowz}}&rowz=1", []),
        ("q=x&q1=a&pf4=b&my_parameter=c&#$qOption.name##=d&lang=en", []),
        ("q=x&defType=edismax&qf=a&json.facet={}&facet.field=b&group.ngroups=true", []),
        ('{"query": "#$query##", "params": {"deftype": "edismax"}}', []),
    ],
)
def test_template_warnings(template: str, expected: list[tuple[str, str, int, int]]) -> None:
    warnings = SolrEngine.template_warnings(engines.parse_template(template, "params"))
    assert [(warning.line, warning.column) for warning in warnings] == [
        (line, column) for _, _, line, column in expected
    ]
    for warning, (name, suggestion, _, _) in zip(warnings, expected, strict=True):
        assert f"“{name}”" in warning.message
        assert f"“{suggestion}”" in warning.message


def test_template_warnings_of_suggested_templates() -> None:
    for template in (SolrEngine.example_template, SolrEngine.suggest_template(["title", "body"], {})):
        assert SolrEngine.template_warnings(engines.parse_template(template, "params")) == []
