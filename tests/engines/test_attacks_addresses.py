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
    connection = Connection(engine, server.url + path, LOOPBACK, **changes)
    template = engines.parse_template(
        "action=UNLOAD&core=films&q=#$query##" if engine == "solr" else '{"query": {"match_all": {}}}', "either"
    )
    with engines.connect(connection) as adapter:
        adapter.search(engines.Request("star", template, engines.parse_fields("id"), 3))


# Servers differ in how they read such paths; some decode twice, ignore “;…”, or resolve dots after decoding.
DISGUISES = [
    "/solr/films/%75pdate", "/solr/films/UPDATE", "/solr/films/%2575pdate", "/solr/films/..%2fadmin", "/solr/films/%2e%2e/admin",
    "/solr/films/..;/admin", "/solr/films/select;/update", "/solr/films/select/../update", "/solr/films/./update",
    "/solr/films/select%2f..%2fupdate", "/solr/films/%5c..%5cupdate", "/solr/films/%00update", "/solr/films/%3faction=x",
    "/solr/films//update",
]  # fmt: skip


def refused(server: LocalServer, engine: str, path: str, **changes: Any) -> None:
    with pytest.raises((EndpointUnreachable, OptionError)) as caught:
        search(server, engine, path, **changes)
    assert caught.value.hint
    assert server.received == []


@pytest.mark.parametrize("path", DISGUISES)
def test_solr_paths_in_disguise(server: LocalServer, path: str) -> None:
    refused(server, "solr", path)


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
