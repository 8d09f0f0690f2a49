"""Queries that refer to other indexes, servers, handlers or files: they are refused, and nothing is sent.

What is refused is decided when all placeholders are filled in; text that is only searched for is not refused.
"""

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

import pytest

from relevancy import engines
from relevancy.engines import BadQuery, Connection, Request
from tests.contracts.fakes import as_opensearch
from tests.contracts.local_server import LocalServer, ReceivedRequest, Reply, json_reply, serving
from tests.contracts.subject import LOOPBACK


def respond(received: ReceivedRequest) -> Reply:
    if received.path.endswith("/_render/template"):
        source = json.loads(received.body)["source"]
        return as_opensearch(json_reply({"template_output": json.loads(source.replace("{{}}", ""))}))
    reply = json_reply({"response": {"numFound": 0, "docs": []}, "hits": {"hits": []}, "took": 1})
    return as_opensearch(reply) if received.path.endswith("/template") else reply


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with serving(respond) as server:
        yield server


def request(template: str, query: str = "star", fields: str = "id", **changes: Any) -> Request:
    return Request(query, engines.parse_template(template, "either"), engines.parse_fields(fields), 3, **changes)


def connect(server: LocalServer, engine: str, path: str, **changes: Any) -> engines.Engine:
    return engines.connect(Connection(engine, server.url + path, LOOPBACK, **changes))


def refused_by_solr(server: LocalServer, solr_request: Request, **changes: Any) -> None:
    with connect(server, "solr", "/solr/films", **changes) as solr:
        for send in (solr.search, solr.render, lambda request: solr.explain(request, "1")):
            with pytest.raises(BadQuery) as caught:
                send(solr_request)
            assert caught.value.hint
        ((_, outcome),) = solr.search_many([solr_request])
        assert isinstance(outcome, BadQuery)
    assert server.received == []


JOIN = "{!join from=id to=id fromIndex=secret}*:*"
IN_PARAMETERS = [
    f"q={JOIN}",
    f"q=x&fq={JOIN}",
    f"q=x&bq={JOIN}&defType=edismax",
    "q={!join from=id to=id fromIndex = secret}*:*",
    "q={!join from=id to=id\tfromIndex='secret'}*:*",
    "q={!join from=id to=id fromIndex=$other}*:*&other=films",
    "q={!type=join from=id to=id fromIndex=secret v='*:*'}",
    f'q=title:x AND _query_:"{JOIN}"',
    'q=_query_:"{\\u0021join from=id to=id from\\u0049ndex=secret}*:*"',
    'q=_query_:"\\{\\!join from=id to=id from\\Index=secret}*:*"',
    'q=_quer\\y_ :"\\{!join from=id to=id fromIndex=secret}*:*"',
    'q=_query_:"{!lucene v=\'_query_:\\\\"{!join fromIndex=secret}x\\\\"\'}"',
    'q=_val_:"query({!join fromIndex=secret v=x})"',
    "q={!lucene v='{\\u0021join fromIndex\\u003dsecret}*:*'}",
    "q={!lucene v='{!join from=a\\tfromIndex\\t=secret}*:*'}",
    f"q={{!lucene v=$x}}&x={JOIN}",
    "q={!jo${a}in from${b}ndex=secret}*:*&b=I",
    "q={!join ${k}=secret}*:*&k=${missing:fromIndex}",
    "q={!func}query($x)&x={!join fromIndex=secret}*:*",
    "q=x&sort=query({!join fromIndex=secret v='*:*'}) desc",
    "q={!join method=crossCollection fromIndex=films solrUrl=http://other.example/solr from=a to=b}*:*",
    "q={!xcjf collection=secret zkHost=other.example:2181 from=a to=b}*:*",
    "q={!xmlparser}<x/>",
    "q={!v='<x/>' type=xmlparser}",
    "q={!type=$t v='<x/>'}&t=xmlparser",
    "q=<x/>&defType=xmlparser",
    "q=x&json.query={join:{from:id,to:id,fromIndex:secret,query:'*:*'}}",
    "q=x&json.query={join:{from:id,to:id,'from\\u0049ndex':secret,query:'*:*'}}",
    'q=x&json={"filter": {"join": {"from": "id", "to": "id", "fromIndex": "secret", "query": "*:*"}}}',
    "q=x&json.facet={a:{type:query,q:'{!join fromIndex=secret}*:*'}}",
    "q=x&x.shards=http://other.example/solr/films",
    "q=x&x.y.shards.qt=/update",
    "q=x&x.collection=secret",
    "q=x&collection=films,secret",
    "q=x&x.qt=/update",
    "q=x&x.stream.body=<delete/>",
    "q=x&x.json.wrf=f",
    "q=x&sh${e}ards=other.example",
    "q=x&#$qOption.name##=other.example&expandMacros=true",
    "q=x&suggest.build=true",
    "q=x&spellcheck.reload=true",
]
IN_JSON = [
    {"query": JOIN},
    {"query": "x", "filter": [JOIN]},
    {"query": "x", "filter": {"join": {"from": "id", "to": "id", "fromIndex": "secret", "query": "*:*"}}},
    {"query": {"bool": {"must": [{"join": {"fromIndex": "secret", "query": "*:*"}}]}}},
    {"query": {"lucene": {"query": f"{{!v='{JOIN}'}}"}}},
    {"query": "x", "params": {"fq": ["a:b", JOIN]}},
    {"query": "x", "params": {"x.shards": "other.example"}},
    {"query": "x", "params": {"x.collection": "secret"}},
    {"query": "x", "params": {"json.filter": '{"join": {"fromIndex": "secret"}}'}},
    {"query": "{!join from${b}ndex=secret}*:*", "params": {"b": "I"}},
    {"query": "${p}", "params": {"p": "{\\u0021join from\\u0049ndex=secret}*:*"}},
    {"query": {"xmlparser": "<x/>"}},
    {"query": {"xcjf": {"collection": "secret", "query": "*:*"}}},
    {"queries": {"a": JOIN}, "query": {"bool": {"must": {"param": "a"}}}},
    {"query": "x", "facet": {"a": {"type": "query", "q": JOIN}}},
    {"query": "x", "facet": {"a": {"type": "terms", "field": "b", "domain": {"filter": JOIN}}}},
]
IN_FIELDS = [
    '{"name": "x:[subquery fromIndex=secret]"}',
    '{"name": "x:[subquery  fromIndex = \'secret\' ]"}',
    '{"name": "x:query({!join fromIndex=secret v=1})"}',
    '{"name": "x:[subquery fromIndex=secret]", "type": "id"}',
    '{"name": "x:[subquery fromIndex=secret]", "type": "title"}',
]


@pytest.mark.parametrize("template", IN_PARAMETERS)
def test_solr_parameters(server: LocalServer, template: str) -> None:
    refused_by_solr(server, request(template.replace("%", "%25"), options={"name": "shards"}))


@pytest.mark.parametrize("body", IN_JSON, ids=json.dumps)
def test_solr_json(server: LocalServer, body: Mapping[str, Any]) -> None:
    refused_by_solr(server, request(json.dumps(body)))


@pytest.mark.parametrize("fields", IN_FIELDS)
def test_solr_fields(server: LocalServer, fields: str) -> None:
    refused_by_solr(server, request("q=x", fields=fields))
    with connect(server, "solr", "/solr/films") as solr, pytest.raises(BadQuery):
        solr.lookup(["1"], engines.parse_fields(fields))
    assert server.received == []


IN_TEXT = [JOIN, f'_query_:"{JOIN}"', "{!xmlparser}<x/>", '_query_:"\\{\\!join from\\Index=secret}"']
OF_TEXT = ["q=#$query##", "q={!edismax v=$qq}&qq=#$query##", '{"query": "#$query##"}']


@pytest.mark.parametrize("query", IN_TEXT)
@pytest.mark.parametrize("template", OF_TEXT)
def test_solr_query_text_that_is_syntax(server: LocalServer, template: str, query: str) -> None:
    refused_by_solr(server, request(template, query))


def test_solr_query_text_in_a_nested_query(server: LocalServer) -> None:
    """The nested parser removes the escaping, so escaping does not help here."""
    refused_by_solr(server, request('q=_query_:"#$query##"', JOIN, escape=True))


INNOCENT = [
    JOIN, "join fromIndex=secret", "[subquery fromIndex=secret]", "what is x.shards and shards.qt", "xmlparser", "stream.body",
    "fromIndex", "price ${x} of ${y:fromIndex}", "solrUrl=http://x zkHost=y", 'say _query_:"{!join fromIndex=x}y"', "\\{!x",
    "xcjf {x!y}", "/update?commit=true",
]  # fmt: skip


@pytest.mark.parametrize("query", INNOCENT)
def test_solr_escaped_query_text_is_searched_for(server: LocalServer, query: str) -> None:
    """Text about Solr's syntax is only text if it is escaped, as it is by default."""
    with connect(server, "solr", "/solr/films") as solr:
        for template in (
            "q=#$query##&defType=edismax&qf=title",
            "q={!edismax v=$qq}&qq=#$query##",
            '{"query": "#$query##"}',
        ):
            solr.search(request(template, query, escape=True))
    assert len(server.received) == 3


@pytest.mark.parametrize("query", [text for text in INNOCENT if "{!" not in text])
def test_solr_plain_query_text_is_searched_for(server: LocalServer, query: str) -> None:
    with connect(server, "solr", "/solr/films") as solr:
        solr.search(request("q=#$query##&defType=edismax&qf=title", query))
    sent = dict(parse_qsl(server.received[0].body.decode(), keep_blank_values=True))
    assert sent["q"] == query
    assert sent.get("expandMacros") == ("false" if "${" in query else None)


def test_solr_macros_of_the_template_work(server: LocalServer) -> None:
    with connect(server, "solr", "/solr/films") as solr:
        solr.search(request("q={!func v=${f}}&f=sum(a,${n:1})&bq=a\\${b", "x"))
    assert b"expandMacros" not in server.received[0].body


@pytest.mark.parametrize(
    "template",
    [f"q={JOIN}", "q=x&x.collection=secret", '{"query": {"join": {"fromIndex": "secret", "query": "*:*"}}}',
     'q=_query_:"{!join fromIndex=\\"secret\\"}x"', "q={!join fromIndex=films}x"],
)  # fmt: skip
def test_solr_index_that_is_allowed(server: LocalServer, template: str) -> None:
    with connect(server, "solr", "/solr/films", allowed_indexes=("secret",)) as solr:
        solr.search(request(template, fields='id {"name": "x:[subquery fromIndex=secret]"}'))
    assert len(server.received) == 1


@pytest.mark.parametrize("length", [0, 100_000])
def test_solr_macros_that_double(server: LocalServer, length: int) -> None:
    """Twenty parameters, each of which contains the next one twice, would be replaced a million times."""
    chain = [f"m{number}=${{m{number + 1}}}${{m{number + 1}}}" for number in range(20)]
    refused_by_solr(server, request("&".join(["q=${m0}", *chain, f"m20={'x' * length}"])))


NOT_ALLOWED = ["q=x&x.shards=secret", "q={!join fromIndex=other}x", "q=x&collection=secret,*"]


@pytest.mark.parametrize("template", NOT_ALLOWED)
def test_solr_allows_nothing_else(server: LocalServer, template: str) -> None:
    refused_by_solr(server, request(template), allowed_indexes=("secret",))


LOOKUP = {"index": "secret", "id": "1", "path": "a"}
TERMS = {"terms": {"genre": LOOKUP}}
IN_QUERIES: list[Mapping[str, Any]] = [
    {"query": TERMS},
    {"query": {"bool": {"filter": [{"bool": {"must_not": TERMS}}]}}},
    {"query": {"terms": {"boost": 1, "genre": {"index": "films,secret", "id": "1", "path": "a"}}}},
    {"query": {"terms": {"genre": {"index": ["secret"], "id": "1", "path": "a"}}}},
    {"query": {"geo_shape": {"place": {"indexed_shape": LOOKUP}}}},
    {"query": {"shape": {"place": {"indexed_shape": {"id": "1"}}}}},  # looked up in the index “shapes”
    {"query": {"more_like_this": {"like": [{"_index": "secret", "_id": "1"}]}}},
    {"query": {"more_like_this": {"like": {"_index": "secret", "_id": "1"}}}},
    {"query": {"more_like_this": {"like": "x", "unlike": [{"_index": "secret", "_id": "1"}]}}},
    {"query": {"percolate": {"field": "query", "index": "secret", "id": "1"}}},
    {"query": {"wrapper": {"query": base64.b64encode(json.dumps(TERMS).encode()).decode()}}},
    {"query": {"wrapper": {"query": "not base64"}}},
    {"query": {"has_child": {"type": "x", "query": TERMS}}},
    {"query": {"function_score": {"functions": [{"filter": TERMS, "weight": 2}]}}},
    {"rescore": {"query": {"rescore_query": TERMS}}},
    {"post_filter": TERMS},
    {"aggs": {"a": {"filter": TERMS}}},
    {"highlight": {"highlight_query": TERMS, "fields": {"*": {}}}},
    {"knn": {"field": "v", "k": 1, "query_vector_builder": {"lookup": LOOKUP}}},
    {"retriever": {"standard": {"query": TERMS}}},
    {"runtime_mappings": {"x": {"type": "lookup", "target_index": "secret", "input_field": "a", "target_field": "b"}}},
    {"pit": {"id": "46ToAwMDaWR5BXV1aWQy"}},
    {"source": {"query": TERMS}, "params": {}},
    {"id": "stored", "params": {"clause": TERMS}},
]  # fmt: skip


@pytest.mark.parametrize("body", IN_QUERIES, ids=json.dumps)
@pytest.mark.parametrize("engine", ["elasticsearch", "opensearch"])
def test_elastic_query(server: LocalServer, engine: str, body: Mapping[str, Any]) -> None:
    elastic_request = request(json.dumps(body), fields="title")
    with connect(server, engine, "/films") as adapter:
        for send in (adapter.search, adapter.render):
            with pytest.raises(BadQuery) as caught:
                send(elastic_request)
            assert caught.value.hint
        outcomes = [outcome for _, outcome in adapter.search_many([elastic_request] * 2)]
        assert all(isinstance(outcome, BadQuery) for outcome in outcomes)
    assert server.received == []


def test_elastic_option_that_is_a_query(server: LocalServer) -> None:
    """An option of a query can be JSON; it is checked like the template."""
    with connect(server, "elasticsearch", "/films") as adapter, pytest.raises(BadQuery, match="secret"):
        adapter.search(request('{"query": "#$qOption.filter##"}', options={"filter": TERMS}))
    assert server.received == []


def as_template(text: str) -> str:
    return json.dumps({"source": text, "params": {"size": 1}})


@pytest.mark.parametrize(
    "text", [json.dumps({"query": TERMS}), json.dumps({"query": TERMS}).replace("index", "in{{}}dex")]
)
def test_elastic_search_template_is_rendered_and_checked(server: LocalServer, text: str) -> None:
    with connect(server, "opensearch", "/films") as adapter:
        with pytest.raises(BadQuery, match="secret"):
            adapter.search(request(as_template(text), fields="title"))
        outcomes = [outcome for _, outcome in adapter.search_many([request(as_template(text), fields="title")] * 2)]
        assert all(isinstance(outcome, BadQuery) for outcome in outcomes)
    assert {received.path for received in server.received} == {"/_render/template"}


def test_elastic_stored_template_with_plain_parameters_is_not_rendered(server: LocalServer) -> None:
    text = '{"id": "stored", "params": {"words": "#$query##"}}'
    with connect(server, "opensearch", "/films") as adapter:
        adapter.search(request(text, "the index", fields="title"))
    assert [received.path for received in server.received] == ["/films/_search/template"]


ORDINARY: list[Mapping[str, Any]] = [
    {"query": {"match": {"index": "#$query##"}}},
    {"query": {"term": {"_index": "films"}}},
    {"query": {"terms": {"index": ["a", "b"]}}},
    {"query": {"terms": {"genre": {"index": "films", "id": "1", "path": "a"}}}},
    {"query": {"pinned": {"docs": [{"_index": "films-000001", "_id": "1"}], "organic": {"match_all": {}}}}},
    {"query": {"script_score": {"query": {"match_all": {}}, "script": {"source": "doc['year'].value * params.f", "params": {"f": 2}}}}},
    {"runtime_mappings": {"x": {"type": "long", "script": "emit(1)"}}, "query": {"match_all": {}}},
    {"aggs": {"index": {"terms": {"field": "index", "order": {"index": "asc"}}, "aggs": {"index": {"avg": {"field": "a"}}}}}},
    {"query": {"more_like_this": {"like": ["text", {"_id": "1"}, {"doc": {"title": "index"}}], "fields": ["title"]}}},
    {"query": {"multi_match": {"query": "#$query##", "fields": ["lookup", "percolate", "wrapper"]}}},
]  # fmt: skip


@pytest.mark.parametrize("body", ORDINARY, ids=json.dumps)
@pytest.mark.parametrize("query", ["star", json.dumps(TERMS), "_index:secret", "pit"])
def test_elastic_ordinary_query_is_sent(server: LocalServer, body: Mapping[str, Any], query: str) -> None:
    with connect(server, "elasticsearch", "/films") as adapter:
        adapter.search(request(json.dumps(body), query, fields="title"))
    sent = json.loads(server.received[0].body)
    assert body.keys() <= sent.keys()
    if "#$query##" in json.dumps(body):
        assert query in str(sent["query"])


def test_elastic_index_that_is_allowed(server: LocalServer) -> None:
    with connect(server, "elasticsearch", "/films", allowed_indexes=("secret",)) as adapter:
        adapter.search(request(json.dumps({"query": TERMS}), fields="title"))
        with pytest.raises(BadQuery):
            adapter.search(replace(request(json.dumps({"query": TERMS}).replace("secret", "other"), fields="title")))
    assert len(server.received) == 1
