"""Addresses and queries that lead anywhere but to a search: the engine refuses them as the adapters for these products do."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from relevancy import engines
from relevancy.engines import BadQuery, Connection, EndpointUnreachable, OptionError, Request
from tests.contracts.local_server import LocalServer, json_reply, serving
from tests.contracts.subject import LOOPBACK
from tests.engines.test_attacks_addresses import DISGUISES
from tests.engines.test_attacks_references import (
    IN_JSON,
    IN_PARAMETERS,
    IN_QUERIES,
    IN_TEXT,
    JOIN,
    NOT_ALLOWED,
    OF_TEXT,
    request,
)


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with serving(lambda received: json_reply({"hits": []})) as server:
        yield server


def connect(server: LocalServer, path: str, **changes: Any) -> engines.Engine:
    connection = Connection("http", server.url + path, LOOPBACK, **{"options": {"hits": "hits"}, **changes})
    return engines.connect(connection)


def search(server: LocalServer, path: str, **changes: Any) -> None:
    with connect(server, path, **{"options": {"hits": "hits", "method": "POST"}, **changes}) as engine:
        engine.search(request('{"query": {"match_all": {}}}'))


def refused(server: LocalServer, path: str, **changes: Any) -> None:
    with pytest.raises((EndpointUnreachable, OptionError)) as caught:
        search(server, path, **changes)
    assert caught.value.hint
    assert server.received == []


def refused_query(server: LocalServer, sent: Request, path: str = "/solr/films/select", **changes: Any) -> None:
    options = {"hits": "hits", "method": "POST" if sent.template.syntax == "json" else "GET"}
    with connect(server, path, options=options, **changes) as engine:
        for send in (engine.search, engine.render):
            with pytest.raises(BadQuery) as caught:
                send(sent)
            assert caught.value.hint
        assert all(isinstance(outcome, BadQuery) for _, outcome in engine.search_many([sent] * 2))
    assert server.received == []


@pytest.mark.parametrize("path", DISGUISES)
def test_solr_paths_in_disguise(server: LocalServer, path: str) -> None:
    refused(server, path)


@pytest.mark.parametrize(
    "path",
    [
        "/films/_delete_by_query", "/films/_DELETE_BY_QUERY", "/films/%5Fdelete_by_query", "/films/%255fupdate_by_query",
        "/_reindex", "/_aliases", "/_bulk", "/films/_bulk", "/films/_doc", "/films/_doc/1", "/films/_create/1", "/films/_close",
        "/films/_update/1", "/_msearch", "/_all/_mapping", "/_cluster/settings", "/_scripts/x", "/_snapshot/x", "/_security/user",
        "/_plugins/_security/api", "/films/_search/../_bulk", "/films/_search;/../_bulk", "//_bulk", "/films//_bulk/",
        "/_sql", "/_tasks/_cancel", "/films/_search/_bulk", "/api/c/films/update", "/api/cores", "/v2/collections",
        "/films/update", "/x/ADMIN/cores", "/x/%61dmin/cores", "/films/config", "/films/schema", "/films/stream",
    ],
)  # fmt: skip
def test_http_api_address(server: LocalServer, path: str) -> None:
    refused(server, path)


@pytest.mark.parametrize(
    "lookup",
    [
        "/_bulk?x={id}",
        "/solr/admin/cores?action=UNLOAD&core={id}",
        "/films/%5Freindex/{id}",
        "/films/update?stream.body={id}",
    ],
)
def test_http_api_lookup(server: LocalServer, lookup: str) -> None:
    refused(server, "/find", options={"hits": "hits", "lookup": lookup})


@pytest.mark.parametrize(
    "path",
    ["/api/search", "/films/_search", "/store/_api/search/query", "/solr/films/select", "/rest/v1/search/", "/a%20b/c"],
)
def test_http_api_sends_to_exactly_its_path(server: LocalServer, path: str) -> None:
    search(server, path)
    assert [received.path for received in server.received] == [path]


def test_http_api_lookup_of_a_document(server: LocalServer) -> None:
    options = {"hits": "hits", "lookup": "/films/_doc/{id}"}
    with connect(server, "/find", options=options) as engine:
        engine.lookup(["../_bulk", "_all", ".."], engines.parse_fields("id"))
    assert sorted(received.path for received in server.received) == ["/films/_doc/..%2F_bulk", "/films/_doc/_all"]


@pytest.mark.parametrize("template", IN_PARAMETERS)
def test_solr_parameters(server: LocalServer, template: str) -> None:
    refused_query(server, request(template.replace("%", "%25"), options={"name": "shards"}))


@pytest.mark.parametrize("body", IN_JSON, ids=json.dumps)
def test_solr_json(server: LocalServer, body: Mapping[str, Any]) -> None:
    refused_query(server, request(json.dumps(body)))


@pytest.mark.parametrize("query", IN_TEXT)
@pytest.mark.parametrize("template", OF_TEXT)
def test_solr_query_text_that_is_syntax(server: LocalServer, template: str, query: str) -> None:
    refused_query(server, request(template, query))


def test_solr_query_text_in_a_nested_query(server: LocalServer) -> None:
    refused_query(server, request('q=_query_:"#$query##"', JOIN, escape=True))


@pytest.mark.parametrize("length", [0, 100_000])
def test_solr_macros_that_double(server: LocalServer, length: int) -> None:
    chain = [f"m{number}=${{m{number + 1}}}${{m{number + 1}}}" for number in range(20)]
    refused_query(server, request("&".join(["q=${m0}", *chain, f"m20={'x' * length}"])))


@pytest.mark.parametrize("template", NOT_ALLOWED)
def test_solr_allows_nothing_else(server: LocalServer, template: str) -> None:
    refused_query(server, request(template), allowed_indexes=("secret",))


@pytest.mark.parametrize("body", IN_QUERIES, ids=json.dumps)
def test_elastic_query(server: LocalServer, body: Mapping[str, Any]) -> None:
    refused_query(server, request(json.dumps(body), fields="title"), "/films/_search")
