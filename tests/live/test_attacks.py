"""Attacks on real engines through endpoints: afterwards, every document is still there and no other index was read.

`tests/engines/test_attacks_*.py` assert that nothing is sent; here the engines themselves decide what an address means.
"""

import json
from typing import Any
from urllib.parse import urlencode

import pytest
import urllib3

from relevancy import engines
from relevancy.engines import Connection, EngineError, Request
from tests.contracts.subject import DOCS, LOOPBACK
from tests.live.indexing import make_elasticsearch_index, make_solr_core, store_search_template
from tests.live.servers import Server

SECRET = [{"id": "sw", "title": "Secret", "link": "sw"}]


def search(
    engine: str, url: str, template: str, fields: str = "id", query: str = "star", **changes: Any
) -> engines.Page:
    options = {"hits": "hits.hits", "id": "_id", "method": "POST"} if engine == "http" else {}
    with engines.connect(Connection(engine, url, LOOPBACK, **{"options": options, **changes})) as adapter:
        default_id = engines.get(engine).default_id_field
        spec = engines.parse_fields(fields, default_id)
        return adapter.search(Request(query, engines.parse_template(template, "either"), spec, 10))


def documents(url: str) -> int:
    """Returns the number of documents, asked without Relevancy."""
    if "/solr/" in url:
        return int(urllib3.request("GET", f"{url}/select?q=*:*&rows=0&wt=json").json()["response"]["numFound"])
    return int(urllib3.request("GET", f"{url}/_count").json()["count"])


@pytest.fixture(scope="module")
def solr(solr_server: Server) -> str:
    make_solr_core(solr_server, "secret", SECRET, {"link": "string"})
    return make_solr_core(solr_server, "attacked", DOCS, {"year": "pint"})


@pytest.fixture(scope="module")
def elasticsearch(elasticsearch_server: Server) -> str:
    make_elasticsearch_index(elasticsearch_server, "secret", [{"id": "1", "titles": ["trek", "born"]}])
    return make_elasticsearch_index(elasticsearch_server, "attacked", DOCS)


@pytest.fixture(scope="module")
def opensearch(opensearch_server: Server) -> str:
    make_elasticsearch_index(opensearch_server, "secret", [{"id": "1", "titles": ["trek", "born"]}])
    return make_elasticsearch_index(opensearch_server, "attacked", DOCS)


SOLR_PATHS = [
    "/admin/cores", "/admin/../admin/cores", "/attacked/..%2fadmin%2fcores", "/attacked/%2e%2e/admin/cores", "/admin/cores;x",
    "/attacked/update", "/attacked/%75pdate", "/attacked/%2575pdate", "/attacked/select/..;/update", "/attacked/UPDATE",
    "/attacked/update/json", "/attacked//update", "/attacked/select/../update", "/attacked/stream", "/attacked/config",
]  # fmt: skip


@pytest.mark.parametrize("path", SOLR_PATHS)
@pytest.mark.parametrize("engine", ["solr", "http"])
def test_solr_keeps_its_documents(solr: str, engine: str, path: str) -> None:
    root = solr.rpartition("/")[0]
    for template in (
        "action=UNLOAD&core=attacked&deleteIndex=true&commit=true",
        '{"delete": {"query": "*:*"}, "commit": {}}',
        "stream.body=<delete><query>*:*</query></delete>&commit=true",
        "expr=delete(attacked,search(attacked,q='*:*',fl='id',sort='id asc'))",
    ):
        with pytest.raises(EngineError):
            search(engine, root + path, template)
    assert documents(solr) == len(DOCS)


@pytest.mark.parametrize(
    "template",
    [
        "q={!join from=link to=id fromIndex=secret}*:*",
        'q=_query_:"{\\u0021join from=link to=id from\\u0049ndex=secret}*:*"&defType=lucene',
        "q={!jo${a}in from=link to=id from${b}ndex=secret}*:*&b=I",
        '{"query": {"join": {"from": "link", "to": "id", "fromIndex": "secret", "query": "*:*"}}}',
    ],
)
def test_solr_reads_another_core_only_if_it_is_allowed(solr: str, template: str) -> None:
    with pytest.raises(EngineError, match=r"another index|macro"):
        search("solr", solr, template)
    if "${" not in template and "\\u" not in template:
        page = search("solr", solr, template, allowed_indexes=("secret",))
        assert [hit.id for hit in page.hits] == ["sw"]


def test_solr_understands_what_is_refused(solr: str) -> None:
    """The disguises are real: Solr itself unescapes nested queries and replaces macros before it parses queries."""
    for query in (
        'q=_query_:"{\\u0021join from=link to=id from\\u0049ndex=secret}*:*"',
        "q={!jo${a}in from=link to=id from${b}ndex=secret}*:*&b=I",
        'q=_query_:"\\{\\!join from=link to=id from\\Index=secret}*:*"',
        "q={!lucene v='{\\u0021join from=link to=id fromIndex\\u003dsecret}*:*'}",
        'q=_quer\\y_ :"\\{!join from=link to=id fromIndex=secret}*:*"',
        "json.query={join:{from:link,to:id,'from\\u0049ndex':secret,query:'*:*'}}",
    ):
        form = urlencode(dict(part.split("=", 1) for part in query.split("&")))
        headers = {"content-type": "application/x-www-form-urlencoded"}
        response = urllib3.request("POST", f"{solr}/select", body=form, headers=headers).json()
        assert response.get("response", {}).get("numFound") == 1, (query, response)


@pytest.mark.parametrize(
    "fields", ['id {"name": "x:[subquery fromIndex=secret]"}', '{"name": "x:query({!join fromIndex=secret v=1})"}']
)
def test_solr_transformers(solr: str, fields: str) -> None:
    with pytest.raises(EngineError, match="another index"):
        search("solr", solr, "q=*:*&x.q=*:*&x.fl=*", fields)


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("{!join from=link to=id fromIndex=secret}wars", ["sw"]),
        ("star ${b} fromIndex=secret", ["sw", "st", "3"]),
        ("x.shards trek", ["st"]),
    ],
)
def test_solr_finds_text_about_its_own_syntax(solr: str, query: str, ids: list[str]) -> None:
    for template in (
        "q=#$query##&defType=edismax&qf=title&q.op=OR",
        "q={!edismax qf=title q.op=OR v=$qq}&qq=#$query##",
    ):
        parsed = engines.parse_template(template, "params")
        with engines.connect(Connection("solr", solr, LOOPBACK)) as adapter:
            page = adapter.search(Request(query, parsed, engines.parse_fields("id"), 10, escape=True))
        assert {hit.id for hit in page.hits} == set(ids)


def test_solr_replaces_no_macro_in_the_text_of_a_query(solr: str) -> None:
    page = search("solr", solr, "q=#$query##&defType=edismax&qf=title&mm=1&word=wars", query="trek ${word}")
    assert [hit.id for hit in page.hits] == ["st"]
    body = '{"query": {"edismax": {"query": "#$query##", "qf": "title", "mm": "1"}}, "params": {"word": "wars"}}'
    assert [hit.id for hit in search("solr", solr, body, query="trek ${word}").hits] == ["st"]
    template = "q={!edismax qf=title v=${word}}&word=wars"
    assert [hit.id for hit in search("solr", solr, template).hits] == ["sw"]


ELASTIC_PATHS = [
    "/_all", "/%5Fall", "/*", "/attacked,*", "/%2A", "/attacked/_delete_by_query", "/attacked/%5fdelete_by_query", "/_reindex",
    "/attacked/_DELETE_BY_QUERY", "/attacked/_search/../_delete_by_query", "/attacked/_search%2f..%2f_delete_by_query",
    "/_aliases", "/_bulk", "/attacked/_bulk", "/attacked//_delete_by_query", "/attacked/_doc", "/attacked/_close", "/.security",
]  # fmt: skip
BODIES: list[Any] = [
    {"query": {"match_all": {}}},
    {"actions": [{"remove_index": {"index": "attacked"}}]},
    {"source": {"index": "secret"}, "dest": {"index": "attacked"}},
]


@pytest.mark.parametrize("path", ELASTIC_PATHS)
@pytest.mark.parametrize("name", ["elasticsearch", "opensearch"])
def test_elastic_keeps_its_documents(request: pytest.FixtureRequest, name: str, path: str) -> None:
    url: str = request.getfixturevalue(name)
    for engine in (name, "http"):
        for body in BODIES:
            with pytest.raises(EngineError):
                search(engine, url.rpartition("/")[0] + path, json.dumps(body))
    urllib3.request("POST", f"{url}/_refresh")
    assert documents(url) == len(DOCS)


TERMS = {"query": {"terms": {"title": {"index": "secret", "id": "1", "path": "titles"}}}}


@pytest.mark.parametrize("name", ["elasticsearch", "opensearch"])
def test_elastic_reads_another_index_only_if_it_is_allowed(request: pytest.FixtureRequest, name: str) -> None:
    url: str = request.getfixturevalue(name)
    for engine, address in ((name, url), ("http", f"{url}/_search")):
        with pytest.raises(EngineError, match="another index"):
            search(engine, address, json.dumps(TERMS), "title")
        page = search(engine, address, json.dumps(TERMS), "title", allowed_indexes=("secret",))
        assert {hit.id for hit in page.hits} == {"st", "3"}


@pytest.mark.parametrize("stored", [True, False], ids=["stored", "sent along"])
def test_opensearch_search_template_that_reads_another_index(
    opensearch: str, opensearch_server: Server, stored: bool
) -> None:
    source = '{"query": {{{clause}}} }'
    store_search_template(opensearch_server, "any_clause", source)
    clause = json.dumps(TERMS["query"])
    template = {"id": "any_clause"} if stored else {"source": source}
    with pytest.raises(EngineError, match="another index"):
        search("opensearch", opensearch, json.dumps({**template, "params": {"clause": clause}}), "title")
    harmless = json.dumps({"match": {"title": "index"}})
    assert (
        search("opensearch", opensearch, json.dumps({**template, "params": {"clause": harmless}}), "title").total == 0
    )
