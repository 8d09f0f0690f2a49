"""Requests that upload files or run scripts: half of the threads at most, and a time after which reading a file ends."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from relevancy.models import ApiToken, Book, Case, Query, Rating, Run
from relevancy.views import uploads
from tests.api.conftest import ApiClient
from tests.factories import make_attempt, make_case, make_user, run_now
from tests.optional import contributed
from tests.slow_threads import a_slow_request

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
RATINGS = "query,docid,rating\nquery 1,a,3\n"
RUN = "query,docid,position\nquery 1,a,1\n"
JSON_RATINGS = {
    "json": {"queries": [{"query": "query 1", "ratings": {"a": 3}}]},
    "rre": {"query_groups": [{"queries": [], "relevant_documents": {}}]},
}


@pytest.fixture
def case(settings):
    settings.SLOW_THREADS = 1
    return make_case(["query 1"], owner=make_user("Ann"))


def file(content):
    return SimpleUploadedFile("file", content.encode())


def pages(case):
    """Each page that reads a file, as (address, fields)."""
    at_case = {name: reverse(name, args=[case.pk]) for name in ("ratings_import", "queries_import", "runs_import")}
    whole = json.dumps({"format": "relevancy/1", "queries": []})
    return [
        (at_case["ratings_import"], {"file": RATINGS}),
        (at_case["ratings_import"], {"file": json.dumps(JSON_RATINGS["json"]), "format": "json"}),
        (at_case["queries_import"], {"file": "query,notes\nstar,new\n"}),
        (at_case["runs_import"], {"file": RUN}),
        *(
            (reverse(name, args=[case.pk]), fields)
            for added in contributed("READING_PAGES")
            for name, fields in added.items()
        ),
        (reverse("case_import"), {"file": whole}),
        (reverse("book_import"), {"file": whole}),
    ]


def post(client, address, fields):
    return client.post(
        address, {"do": "preview", **fields, "file": file(fields["file"])}, headers={"HX-Request": "true"}
    )


def stored():
    return [model.objects.count() for model in (Book, Case, Query, Rating, Run)]


def test_files_wait_while_others_are_read(client, case):
    client.force_login(case.owner)
    token = ApiClient(case.owner)
    before = stored()
    with a_slow_request():
        for address, fields in pages(case):
            response = post(client, address, fields)
            assert (response.status_code, response.headers["Retry-After"]) == (503, "10"), address
            assert "Try again in a few seconds" in response.text
        response = token.upload(f"/cases/{case.pk}/import/ratings", RATINGS)
        assert (response.status_code, response.headers["Retry-After"]) == (503, "10")
        assert "Try again in a few seconds" in response.json()["detail"]
        assert client.get(reverse("home")).status_code == 200
        without_file = client.post(reverse("ratings_import", args=[case.pk]), {"file": ""})
        assert without_file.status_code == 422
    assert stored() == before
    assert token.upload(f"/cases/{case.pk}/import/ratings", RATINGS).status_code == 200


def test_reading_a_file_ends(client, case, monkeypatch):
    """Each reader of files looks at the time."""
    monkeypatch.setattr(uploads, "READING_SECONDS", -1.0)
    client.force_login(case.owner)
    before = stored()
    for address, fields in pages(case):
        response = post(client, address, fields)
        assert response.status_code in {200, 422}, address  # a preview lists what is wrong
        assert "longer than 20 seconds" in response.text, address
    response = ApiClient(case.owner).upload(f"/cases/{case.pk}/import/runs", RUN)
    assert response.status_code == 422
    assert "longer than 20 seconds" in response.json()["detail"]
    assert stored() == before


def test_a_file_of_rankings_for_an_endpoint_ends(client, case, monkeypatch):
    monkeypatch.setattr(uploads, "READING_SECONDS", -1.0)
    client.force_login(case.owner)
    data = {"name": "mine", "engine": "static", "parallel": "8", "per_minute": "0", "file": file(RUN)}
    response = client.post(reverse("endpoint_new"), data)
    assert response.status_code == 422
    assert "longer than 20 seconds" in response.text


@pytest.mark.parametrize("format", sorted(JSON_RATINGS))
def test_members_that_nobody_knows_are_counted(client, case, format):
    client.force_login(case.owner)
    many = {f"member {number}": 1 for number in range(1_001)}
    for address, fields in (
        (
            reverse("ratings_import", args=[case.pk]),
            {"file": json.dumps(JSON_RATINGS[format] | many), "format": format},
        ),
        (reverse("case_import"), {"file": json.dumps({"format": "relevancy/1"} | many)}),
        (reverse("book_import"), {"file": json.dumps({"format": "relevancy/1", "book": {}} | many)}),
    ):
        response = post(client, address, fields)
        assert response.status_code in {200, 422}, address  # a preview lists what is wrong
        assert "more than 1,000 members" in response.text, address


def test_scripts_wait_while_other_requests_are_slow(client, case):
    client.force_login(case.owner)
    run_now(make_attempt(case))
    preview = {"kind": "script", "scale": "0:3", "script": "setScore(1);", "output_range": "100", "cutoff": ""}
    preview |= {"on": "typed", "grades": "1 2"}
    trial = {"script": "setScore(1);", "grades": [1, 2], "scale": "0:3"}
    with a_slow_request():
        response = client.post("/scorers/try/", preview, headers={"HX-Request": "true"})
        assert (response.status_code, response.headers["Retry-After"]) == (503, "10")
        response = ApiClient(case.owner).send("POST", "/scorers/try", trial)
        assert (response.status_code, response.headers["Retry-After"]) == (503, "10")
    assert client.post("/scorers/try/", preview, headers={"HX-Request": "true"}).status_code == 200
    assert ApiClient(case.owner).send("POST", "/scorers/try", trial).status_code == 200


def test_a_token_for_reading_runs_no_script(case):
    trial = {"script": "setScore(1);", "grades": [1, 2], "scale": "0:3"}
    for scope, status in ((ApiToken.Scope.READ, 403), (ApiToken.Scope.RATE, 403), (ApiToken.Scope.WRITE, 200)):
        assert ApiClient(case.owner, scope).send("POST", "/scorers/try", trial).status_code == status
