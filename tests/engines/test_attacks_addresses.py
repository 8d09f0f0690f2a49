"""Addresses that lead anywhere but to a search of one index: they are refused, and nothing is sent."""

from collections.abc import Iterator
from typing import Any

import pytest

from relevancy import engines
from relevancy.engines import Connection, EndpointUnreachable, OptionError
from tests.contracts.local_server import LocalServer, json_reply, serving
from tests.contracts.subject import LOOPBACK


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with serving(lambda received: json_reply({"hits": [], "response": {"docs": []}})) as server:
        yield server


def search(server: LocalServer, engine: str, path: str, **changes: Any) -> None:
    options = {"hits": "hits", "method": "POST"} if engine == "http" else {}
    connection = Connection(engine, server.url + path, LOOPBACK, **{"options": options, **changes})
    template = engines.parse_template(
        "action=UNLOAD&core=films&q=#$query##" if engine == "solr" else '{"query": {"match_all": {}}}', "either"
    )
    with engines.connect(connection) as adapter:
        adapter.search(engines.Request("star", template, engines.parse_fields("id"), 3))


# Servers differ in how they read such paths; some decode twice, ignore “;…”, or resolve dots after decoding.
DISGUISES = [
    "{prefix}/%75pdate", "{prefix}/UPDATE", "{prefix}/%2575pdate", "{prefix}/..%2fadmin", "{prefix}/%2e%2e/admin",
    "{prefix}/..;/admin", "{prefix}/select;/update", "{prefix}/select/../update", "{prefix}/./update",
    "{prefix}/select%2f..%2fupdate", "{prefix}/%5c..%5cupdate", "{prefix}/%00update", "{prefix}/%3faction=x",
    "{prefix}//update",
]  # fmt: skip


def refused(server: LocalServer, engine: str, path: str, **changes: Any) -> None:
    with pytest.raises((EndpointUnreachable, OptionError)) as caught:
        search(server, engine, path, **changes)
    assert caught.value.hint
    assert server.received == []


@pytest.mark.parametrize("path", [text.format(prefix="/solr/films") for text in DISGUISES])
@pytest.mark.parametrize("engine", ["solr", "http"])
def test_solr_paths_in_disguise(server: LocalServer, engine: str, path: str) -> None:
    refused(server, engine, path)


@pytest.mark.parametrize(
    "path",
    [
        "/solr/admin/cores", "/solr/admin/collections", "/solr/admin", "/admin/cores/select", "/solr/api/cores",
        "/solr/____v2/cores", "/api/cores", "/v2/c/films", "/solr/.system", "/solr/_films", "/solr/-films", "/solr/*",
        "/solr/films/update", "/solr/films/update/json/docs", "/solr/films/admin/luke", "/solr/films/config",
        "/solr/films/schema", "/solr/films/replication", "/solr/films/dataimport", "/solr/films/stream", "/solr/films/sql",
        "/solr/films/export", "/solr/films/get", "/solr/films/select/update", "/solr/films/browse", "/solr/films,*/select",
        "/solr/films,.system/select", "/solr/cluster/x",
    ],
)  # fmt: skip
def test_solr_address(server: LocalServer, path: str) -> None:
    refused(server, "solr", path)


@pytest.mark.parametrize(
    "handler", ["update", "admin/ping", "x/update", "UPDATE", "config", "stream", "../update", "a/%75pdate", "a/.b"]
)
def test_solr_handlers_that_nobody_can_allow(server: LocalServer, handler: str) -> None:
    refused(server, "solr", f"/solr/films/{handler}", allowed_handlers=(handler,))


def test_solr_handler_that_is_allowed(server: LocalServer) -> None:
    search(server, "solr", "/solr/films/browse", allowed_handlers=("browse",))
    assert server.received[0].path == "/solr/films/browse"


@pytest.mark.parametrize("engine", ["elasticsearch", "opensearch"])
@pytest.mark.parametrize(
    "path",
    [
        "/_all", "/%5Fall", "/%5fall/_search", "/_ALL", "/*", "/films*", "/%2A", "/.security", "/%2Esecurity", "/.kibana_1",
        "/films,.security", "/films,_all", "/films,*", "/films,-other", "/-films", "/remote:films", "/*:films", "/<films-{now}>",
        "/%3Cfilms-%7Bnow%7D%3E", "/films/_update/1", "/films/_delete_by_query", "/_snapshot/films", "/_cluster/films",
        "/films/_doc/1/_update", "/_plugins/films", "/films/..%2f_bulk", "/films;x", "/films,", "/,films", "/a/../b", "/..",
        "/films%20other", "/" + "x" * 256, "/*/films", "/.security/films",
    ],
)  # fmt: skip
def test_elastic_address(server: LocalServer, engine: str, path: str) -> None:
    refused(server, engine, path)


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
    refused(server, "http", path)


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
    refused(server, "http", "/find", options={"hits": "hits", "lookup": lookup})


@pytest.mark.parametrize(
    "path",
    ["/api/search", "/films/_search", "/store/_api/search/query", "/solr/films/select", "/rest/v1/search/", "/a%20b/c"],
)
def test_http_api_sends_to_exactly_its_path(server: LocalServer, path: str) -> None:
    search(server, "http", path)
    assert [received.path for received in server.received] == [path]


def test_http_api_lookup_of_a_document(server: LocalServer) -> None:
    options = {"hits": "hits", "lookup": "/films/_doc/{id}"}
    with engines.connect(Connection("http", server.url + "/find", LOOPBACK, options=options)) as engine:
        engine.lookup(["../_bulk", "_all", ".."], engines.parse_fields("id"))
    assert sorted(received.path for received in server.received) == ["/films/_doc/..%2F_bulk", "/films/_doc/_all"]
