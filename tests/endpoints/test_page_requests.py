"""Requests to engines that are sent while a page waits: a small number of threads at a time."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from relevancy import endpoints, runs
from relevancy.models import Endpoint
from relevancy.slow_requests import Busy
from tests.contracts.fakes import fake_solr
from tests.contracts.local_server import LocalServer, serving
from tests.factories import make_attempt, make_case, make_endpoint, make_user, run_now
from tests.slow_threads import a_slow_request

pytestmark = pytest.mark.django_db


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with serving(fake_solr) as server:
        yield server


@pytest.fixture
def endpoint(server: LocalServer, settings: Any) -> Endpoint:
    settings.SLOW_THREADS = 1
    return make_endpoint(
        make_user("Owner", superuser=True),
        engine="solr",
        url=f"{server.url}/solr/films",
    )


def test_connect_for_page_refuses_more_than_its_threads(endpoint: Endpoint) -> None:
    with a_slow_request():
        with pytest.raises(Busy), endpoints.connect_for_page(endpoint):
            pass
        with endpoints.connect(endpoint) as engine:  # as a worker does
            assert engine.version() == "Solr 9.10.1"
    with endpoints.connect_for_page(endpoint), endpoints.connect_for_page(endpoint) as engine:  # one thread: one place
        assert engine.version() == "Solr 9.10.1"


def test_connect_for_page_after_an_error(endpoint: Endpoint) -> None:
    endpoint.options = {"read_timeout": 0}
    for _ in range(3):
        with pytest.raises(Exception, match="read_timeout"), endpoints.connect_for_page(endpoint):
            pass


@pytest.mark.parametrize(
    ("configured", "expected"), [({}, 30.0), ({"read_timeout": 600}, 30.0), ({"read_timeout": 2}, 2.0)]
)
def test_connect_for_page_limits_the_time(endpoint: Endpoint, configured: dict[str, Any], expected: float) -> None:
    endpoint.options |= configured
    with endpoints.connect_for_page(endpoint) as engine:
        assert engine.connection.read_timeout == expected


def test_connect_for_page_does_not_count_engines_on_this_server(endpoint: Endpoint) -> None:
    local = make_endpoint(endpoint.owner, engine="embedded", url="films")
    with a_slow_request(), endpoints.connect_for_page(local):
        assert endpoints.known_queries(local) == []


def test_pages_while_all_threads_wait_for_engines(client: Client, endpoint: Endpoint) -> None:
    case = make_case(2, {"query 1": {"b": 1}}, owner=endpoint.owner)
    run = run_now(make_attempt(case, endpoint, template="q=#$query##", fields="id:id"))
    case_query = case.case_queries.order_by("position").first()
    client.force_login(endpoint.owner)
    at_case = {
        name: reverse(name, args=[case.pk, case_query.pk])
        for name in ("query_unretrieved", "query_explain", "query_search")
    }
    requests = [
        lambda **headers: client.post(reverse("endpoint_try", args=[endpoint.pk]), {"text": "star"}, **headers),
        lambda **headers: client.get(f"{at_case['query_unretrieved']}?look=1", **headers),
        lambda **headers: client.get(f"{at_case['query_explain']}?doc_id=a", **headers),
        lambda **headers: client.post(at_case["query_search"], **headers),
        lambda **headers: client.get(f"{reverse('autocomplete', args=[case.pk])}?endpoint={endpoint.pk}", **headers),
    ]
    with a_slow_request():
        for send in requests:
            for headers in ({}, {"headers": {"HX-Request": "true"}}):
                response = send(**headers)
                assert (response.status_code, response["Retry-After"]) == (503, "10"), response.text
                assert "Try again in a few seconds" in response.text
        assert client.get("/healthz").status_code == 200
        assert client.get(reverse("case", args=[case.pk])).status_code == 200
    assert [send().status_code < 400 for send in requests] == [True] * len(requests)
    run.refresh_from_db()
    assert run.status == "complete"
    assert runs.abilities(run).explain is True
