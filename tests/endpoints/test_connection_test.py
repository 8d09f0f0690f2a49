"""What a connection test says about an address at which another engine responds, and about fields that have values."""

from collections.abc import Callable

import pytest

from relevancy import endpoints, engines
from relevancy.engines.types import Hit, Page
from tests.contracts.fakes import fake_elasticsearch, fake_opensearch, fake_solr
from tests.contracts.local_server import ReceivedRequest, Reply, json_reply, serving
from tests.factories import make_user

Responder = Callable[[ReceivedRequest], Reply]


def only_searches(respond: Responder) -> Responder:
    """As the real product: an address of another product is no handler of it."""

    def responder(received: ReceivedRequest) -> Reply:
        path = received.path.partition("?")[0]
        if path == "/" or path.endswith(("_search", "_field_caps")):
            return respond(received)
        return json_reply({"error": "no handler found for uri"}, 400)

    return responder


def solr_only(received: ReceivedRequest) -> Reply:
    if received.path.startswith("/solr/films/") and "_" not in received.path.partition("?")[0]:
        return fake_solr(received)
    return Reply(b"<html>not found</html>", 404, {"content-type": "text/html"})


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("respond", "path", "chosen", "recognized", "version"),
    [
        (only_searches(fake_elasticsearch), "films", "solr", "elasticsearch", "Elasticsearch 9.4.3"),
        (only_searches(fake_opensearch), "films", "solr", "opensearch", "OpenSearch 3.8.0"),
        (only_searches(fake_opensearch), "films", "elasticsearch", "opensearch", "OpenSearch 3.8.0"),
        (only_searches(fake_elasticsearch), "films", "opensearch", "elasticsearch", "Elasticsearch 9.4.3"),
        (solr_only, "solr/films", "elasticsearch", "solr", "Solr"),
    ],
)
def test_another_engine_is_recognized(
    respond: Responder, path: str, chosen: str, recognized: str, version: str
) -> None:
    with serving(respond) as server:
        endpoint = endpoints.build_endpoint(name="x", engine=chosen, url=f"{server.url}/{path}", by=make_user())
        test = endpoints.test_connection(endpoint=endpoint, text="star")
    assert test.error
    assert test.recognized == recognized
    assert test.recognized_version.startswith(version)
    assert endpoint.engine == chosen


@pytest.mark.django_db
def test_nothing_is_recognized_where_nothing_responds_or_the_index_is_missing() -> None:
    by = make_user()
    silent = endpoints.build_endpoint(name="x", engine="solr", url="http://127.0.0.1:1/solr/films", by=by)
    assert endpoints.test_connection(endpoint=silent, text="star").recognized == ""
    with serving(fake_elasticsearch) as server:
        missing = endpoints.build_endpoint(name="x", engine="elasticsearch", url=f"{server.url}/nothing", by=by)
        test = endpoints.test_connection(endpoint=missing, text="star")
    assert (bool(test.error), test.recognized) == (True, "")


def test_filled_fields_are_those_with_a_value_in_a_document() -> None:
    hits = [
        Hit("1", 1.0, {"title": "A", "overview": "", "tags": [], "year": 0}),
        Hit("2", 1.0, {"title": "", "cast": ["x"], "extra": None}),
    ]
    names = ["overview", "title", "tags", "year", "cast", "extra"]
    test = endpoints.ConnectionTest("Solr", names, Page(tuple(hits), 2, 1, {}))
    assert test.filled_fields == ["title", "year", "cast"]
    assert endpoints.ConnectionTest("Solr", names, None).filled_fields == names


@pytest.mark.parametrize(
    ("page", "address"),
    [
        ("http://host:8983/solr/#/products/query", "http://host:8983/solr/products"),
        ("http://host:8983/solr/#/products", "http://host:8983/solr/products"),
        ("https://host/x/solr/#/products/collection-overview", "https://host/x/solr/products"),
        ("http://host:8983/solr/index.html#/products/query?q=a", "http://host:8983/solr/products"),
        ("http://host:8983/solr/#/~cores/products", "http://host:8983/solr/products"),
        ("http://host:8983/solr/#/~cloud?view=graph", "http://host:8983/solr/#/~cloud?view=graph"),
        ("http://host:8983/solr/#/", "http://host:8983/solr/#/"),
        ("http://host:8983/solr/products", "http://host:8983/solr/products"),
    ],
)
def test_address_of_a_page_of_solr(page: str, address: str) -> None:
    assert engines.get("solr").address_of_page(page) == address
    assert endpoints.address_of_page(engine="elasticsearch", url=page) == page
    assert endpoints.address_of_page(engine="uninstalled", url=page) == page
