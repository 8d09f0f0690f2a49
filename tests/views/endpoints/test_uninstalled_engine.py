"""Endpoints of an engine whose package is no longer installed: a notice, never an error of the server."""

import pytest

from tests.views.factories import make_case, make_endpoint


@pytest.fixture
def endpoint(people):
    return make_endpoint(people["owner"], "Vespa", engine="vespa", url="http://127.0.0.1:1/")


def test_pages_open(sign_in, people, endpoint):
    make_case(people["owner"], endpoint=endpoint)
    client = sign_in("owner")
    assert "Vespa" in client.get("/endpoints/").content.decode()
    page = client.get(f"/endpoints/{endpoint.pk}/")
    assert page.status_code == 200
    assert "vespa" in page.content.decode()
    assert client.get("/").status_code == 200


def test_saving_is_refused_at_the_engine(sign_in, endpoint):
    fields = {"name": "Vespa", "engine": "vespa", "url": endpoint.url, "parallel": 8, "per_minute": 0}
    response = sign_in("owner").post(f"/endpoints/{endpoint.pk}/", fields)
    assert response.status_code == 422
    assert "engine" in response.context["form"].errors


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_connection_test_says_that_the_engine_is_unknown(sign_in, endpoint, headers):
    client = sign_in("owner")
    for text in ("", "star wars"):
        response = client.post(f"/endpoints/{endpoint.pk}/try/", {"text": text}, headers=headers)
        assert response.status_code == 200
        assert "vespa" in response.content.decode()


def test_archive_and_restore(sign_in, endpoint):
    client = sign_in("owner")
    assert client.post(f"/endpoints/{endpoint.pk}/archive/").status_code == 302
    assert client.post(f"/endpoints/{endpoint.pk}/restore/").status_code == 302
