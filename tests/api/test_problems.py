"""Errors are problem details whichever part of the site reports them; limits, other sites, caching."""

import re

import pytest
from django.db import OperationalError
from django.test import Client

from relevancy.api import authentication, users
from relevancy.api.rate_limits import MAX_BUCKETS, RateLimiter
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(api):
    return api(make_user("ann"))


def check(response, status):
    problem = response.json()
    assert response.status_code == status, problem
    assert response.headers["Content-Type"] == "application/problem+json"
    assert set(problem) == {"type", "title", "status", "detail", "errors"}
    assert problem["status"] == status
    assert problem["detail"]
    return problem


@pytest.mark.parametrize(
    "path", ["/nothing", "/cases/1/nothing", "", "/", "/cases/", "/runs/999999", "/cases/1/x/../y"]
)
def test_not_found(client, path):
    check(client.send("GET", path), 404)


def test_address_outside_of_the_version(client):
    check(Client().get("/api/v9/cases"), 404)
    check(Client().post("/api/v9/cases"), 404)


def test_method_not_allowed(client):
    response = client.send("PATCH", "/cases")
    check(response, 405)
    assert set(response.headers["Allow"].split(", ")) == {"GET", "POST"}


@pytest.mark.parametrize("path", ["/cases/x", "/cases/0", "/cases/99999999999999999999", "/cases/1.5"])
def test_id_that_is_none(client, path):
    assert check(client.send("GET", path), 422)["errors"][0]["field"] == "case_id"


@pytest.mark.parametrize("limit", ["0", "201", "x", "-1", "99999999999999999999"])
def test_limit_that_is_none(client, limit):
    assert check(client.send("GET", f"/cases?limit={limit}"), 422)["errors"][0]["field"] == "limit"


@pytest.mark.parametrize("body", ["{", "\xff", "[" * 100_000, "1" * 5_000])
def test_body_that_is_no_json(client, body):
    headers = {"Authorization": f"Bearer {client.token}"}
    response = Client().generic("POST", "/api/v1/scorers/try", body, "application/json", headers=headers)
    check(response, 400)


def test_null_character(client):
    check(client.send("GET", "/cases?text=%00"), 400)
    check(client.send("GET", "/queries/1/ratings/a%00"), 400)


def test_too_long_address(client):
    check(client.send("GET", f"/cases?text={'x' * 30_000}"), 414)


def test_too_large_body(client, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10
    check(client.send("POST", "/scorers/try", {"measure": "nDCG@10", "grades": [1]}), 413)


def test_unavailable_database(client, monkeypatch):
    def fail(user):
        raise OperationalError("database is locked")

    monkeypatch.setattr(users.Team.objects, "visible_to", fail)
    response = client.send("GET", "/teams")
    check(response, 503)
    assert response.headers["Retry-After"]


def test_unexpected_error(client, monkeypatch):
    def fail(user):
        raise RuntimeError("secret detail")

    monkeypatch.setattr(users.Team.objects, "visible_to", fail)
    headers = {"Authorization": f"Bearer {client.token}"}
    response = Client(raise_request_exception=False).get("/api/v1/teams", headers=headers)
    assert "secret" not in check(response, 500)["detail"]


def test_rate_limit(client, monkeypatch):
    monkeypatch.setattr(authentication, "limiter", RateLimiter(2, lambda: 0.0))
    assert [client.send("GET", "/me").status_code for _ in range(2)] == [200, 200]
    response = client.send("GET", "/me")
    check(response, 429)
    assert response.headers["Retry-After"] == "30"


def test_rate_limiter_fills_up_steadily_and_per_key():
    now = [0.0]
    limiter = RateLimiter(60, lambda: now[0])
    assert [limiter.take(1) for _ in range(61)] == [0] * 60 + [1]
    assert limiter.take(2) == 0
    now[0] = 1.0
    assert [limiter.take(1), limiter.take(1)] == [0, 1]
    now[0] = 1e6
    assert [limiter.take(1) for _ in range(61)].count(0) == 60


def test_rate_limiter_forgets_the_keys_that_were_used_longest_ago():
    limiter = RateLimiter(1, lambda: 0.0)
    for key in range(MAX_BUCKETS + 1):
        limiter.take(key)
    assert limiter.take(0) == 0
    assert limiter.take(MAX_BUCKETS) > 0


def test_other_sites_are_refused_unless_they_are_named(client, settings):
    origin = {"Origin": "https://notebooks.example.org"}
    assert "Access-Control-Allow-Origin" not in client.send("GET", "/me", **origin).headers
    settings.CORS_ALLOWED_ORIGINS = ["https://notebooks.example.org"]
    response = client.send("GET", "/me", **origin)
    assert response.headers["Access-Control-Allow-Origin"] == origin["Origin"]
    assert "Access-Control-Allow-Credentials" not in response.headers
    preflight = {**origin, "Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "authorization"}
    preflight_response = Client().options("/api/v1/queries/1/ratings", headers=preflight)
    assert preflight_response.status_code == 200
    assert "authorization" in preflight_response.headers["Access-Control-Allow-Headers"]
    assert "Access-Control-Allow-Origin" not in Client().get("/login/", headers=origin).headers


def test_unchanged_answers_are_not_sent_again(client):
    etag = client.send("GET", "/teams").headers["ETag"]
    again = client.send("GET", "/teams", **{"If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")


def test_document_and_its_page_need_no_token():
    document = Client().get("/api/v1/openapi.json")
    assert document.status_code == 200
    assert document.json()["openapi"].startswith("3.")
    page = Client().get("/api/v1/docs")
    assert page.status_code == 200
    content = page.content.decode()
    assert set(re.findall(r"(?:src|href)=\"([^\"]*)\"", content))
    assert not re.search(r"(?:src|href)=\"(?!/static/)", content)
    assert '"validatorUrl": null' in content


def test_the_page_has_a_short_address():
    answer = Client().get("/api/docs")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/api/v1/docs")


def test_every_operation_is_described():
    document = Client().get("/api/v1/openapi.json").json()
    for path, item in document["paths"].items():
        for method, operation in item.items():
            name = f"{method} {path}"
            assert operation["description"], name
            assert operation["security"] == [{"TokenAuth": []}], name
            assert {"401", "403", "422", "429"} <= set(operation["responses"]), name
            assert ("304" in operation["responses"]) == (method == "get"), name
            sent = {parameter["name"] for parameter in operation.get("parameters", [])}
            assert ("412" in operation["responses"]) == ("If-Match" in sent), name
            if method == "get" and "200" in operation["responses"]:
                assert operation["responses"]["200"]["headers"].keys() == {"ETag"}, name
