"""Requests per minute, shared by processes: a schedule in the row of the endpoint."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from relevancy import endpoints
from relevancy.endpoints.schedule import reserve
from relevancy.models import Endpoint
from tests.factories import make_endpoint, make_user

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    monkeypatch.setattr(timezone, "now", lambda: NOW)
    return make_endpoint(make_user(), engine="solr", url="http://127.0.0.1:1/solr/x", per_minute=60)


def test_reserve_puts_requests_one_after_another(endpoint: Endpoint) -> None:
    assert [reserve(endpoint.pk, 60, count) for count in (1, 3, 1)] == [0, 1, 4]
    assert Endpoint.objects.get().next_request_at == NOW + timedelta(seconds=5)


def test_reserve_takes_back_what_was_not_sent(endpoint: Endpoint) -> None:
    reserve(endpoint.pk, 60, 4)
    reserve(endpoint.pk, 60, -3)
    assert reserve(endpoint.pk, 60, 1) == 1


def test_reserve_does_not_save_up_requests(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    reserve(endpoint.pk, 60, 1)
    monkeypatch.setattr(timezone, "now", lambda: NOW + timedelta(hours=1))
    assert [reserve(endpoint.pk, 60, 1) for _ in range(3)] == [0, 1, 2]


def test_reserve_after_the_clock_was_set_back(endpoint: Endpoint) -> None:
    Endpoint.objects.update(next_request_at=NOW + timedelta(hours=1))
    assert [reserve(endpoint.pk, 60, 1) for _ in range(2)] == [0, 1]


def test_reserve_of_a_deleted_endpoint(endpoint: Endpoint) -> None:
    Endpoint.objects.all().delete()
    assert reserve(endpoint.pk, 60, 1) == 0


def test_connections_of_an_endpoint_share_its_schedule(endpoint: Endpoint) -> None:
    waited = []
    for _ in range(3):
        own = endpoints.connections.connection(endpoint)
        assert own.reserve is not None
        waited.append(own.reserve(1))
    assert waited == [0, 1, 2]
