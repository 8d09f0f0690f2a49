"""Endpoints: who sees, creates and changes them; credentials are stored and never displayed."""

import re

import pytest
from django.contrib.messages import get_messages

from relevancy import endpoints
from relevancy.models import Endpoint, Role, Run, Team
from tests.markup import compact
from tests.views.factories import make_case, make_endpoint, make_run

SOLR = "http://127.0.0.1:1/solr/films"
FORM = {"name": "films", "engine": "solr", "url": SOLR, "parallel": "8", "per_minute": "0"}
SECRET = "hunter2-secret"


@pytest.fixture
def shared(people, team):
    endpoint = make_endpoint(
        people["admin"], credentials={"username": "u", "password": SECRET}, headers={"X-Key": "header-secret"}
    )
    endpoint.teams.add(team)
    return endpoint


def address(endpoint, action=""):
    return f"/endpoints/{endpoint.pk}/{action and action + '/'}"


def saved(response):
    return [str(message) for message in get_messages(response.wsgi_request)]


@pytest.mark.parametrize(
    ("who", "sees", "edits"),
    [("viewer", 200, 403), ("rater", 200, 403), ("editor", 200, 200), ("owner", 200, 200), ("stranger", 404, 404)],
)
def test_endpoint_access(sign_in, shared, who, sees, edits):
    client = sign_in(who)
    for method in (client.get, client.post):
        assert method(address(shared, "try")).status_code == edits
    assert client.get(address(shared)).status_code == sees
    assert client.post(address(shared), FORM).status_code in {200: (302, 422)}.get(edits, (edits,))
    for action in ("archive", "restore"):
        assert client.post(address(shared, action)).status_code == (302 if edits == 200 else edits)
        assert client.get(address(shared, action)).status_code == 405
    assert ("films" in client.get("/endpoints/").content.decode()) == (sees == 200)


def test_endpoint_seen_through_a_case_is_not_changed(sign_in, people, team):
    case = make_case(people["admin"], team=team)
    endpoint = case.attempts.get().endpoint
    client = sign_in("owner")
    assert client.post(address(endpoint), FORM).status_code == 403
    assert client.post(address(endpoint, "try"), {"text": "star"}).status_code == 403


def test_endpoint_is_text_for_users_who_may_not_change_it(sign_in, shared):
    page = sign_in("viewer").get(address(shared)).content.decode()
    assert 'id="endpoint-settings"' in page
    assert SOLR in page
    for part in ('<input type="text"', "<fieldset", "endpoint_try", "/try/", "/archive/", SECRET, "header-secret"):
        assert part not in page
    listed = sign_in("viewer").get("/endpoints/").content.decode()
    assert f'href="{address(shared)}"' in listed
    assert address(shared, "try") not in listed
    assert address(shared, "archive") not in listed


@pytest.mark.parametrize(
    ("who", "status"), [("viewer", 403), ("rater", 403), ("editor", 200), ("owner", 200), ("stranger", 403)]
)
def test_endpoint_new_needs_its_own_permission(sign_in, people, who, status):
    client = sign_in(who)
    assert client.get("/endpoints/new/").status_code == status
    page = client.get("/endpoints/").content.decode()
    assert ("Ask an administrator of this site" in page) == (status == 403)
    assert ("New endpoint" in page) == (status == 200)
    client.post("/endpoints/new/", FORM)
    assert Endpoint.objects.count() == (1 if status == 200 else 0)


def test_creating_a_team_does_not_permit_creating_endpoints(sign_in, people):
    client = sign_in("stranger")
    client.post("/teams/new/", {"name": "Mine", "can_create_endpoints": "on"})
    assert client.get("/endpoints/new/").status_code == 403
    people["stranger"].can_create_endpoints = True
    people["stranger"].save()
    assert client.get("/endpoints/new/").status_code == 200


def test_endpoint_edit_changes_the_address_only_for_users_who_may_create(sign_in, people, team):
    endpoint = make_endpoint(people["admin"])
    endpoint.teams.add(team)
    team.can_create_endpoints = False
    team.save()
    client = sign_in("editor")
    response = client.post(address(endpoint), {**FORM, "url": "http://127.0.0.1:2/solr/mine"})
    assert response.status_code == 422
    assert "Ask an administrator" in str(response.context["form"].errors["url"])
    assert client.post(address(endpoint), {**FORM, "parallel": "2"}).status_code == 302
    endpoint.refresh_from_db()
    assert (endpoint.url, endpoint.parallel) == (SOLR, 2)


def test_endpoint_address_is_explained_for_the_chosen_engine(sign_in):
    page = compact(sign_in("admin").post("/endpoints/new/", {"engine": "solr"}).content.decode())
    texts = dict(re.findall(r'<span data-choice="(\w+)"([^<]*<code>[^<]+)</code></span>', page))
    assert texts.keys() == {engine.key for engine in endpoints.available_engines() if engine.address.kind != "file"}
    assert [engine for engine, text in texts.items() if "is-chosen" in text] == ["solr"]
    assert "http://localhost:8983/solr/products" in texts["solr"]
    assert "9200" not in texts["solr"]


def test_endpoint_new_stores_credentials_and_headers(sign_in, people):
    data = {**FORM, "username": "u", "password": SECRET, "headers": "X-Team: search\n\nX-Key: k: v"}
    response = sign_in("editor").post("/endpoints/new/", data, follow=True)
    endpoint = Endpoint.objects.get()
    assert endpoint.credentials == {"username": "u", "password": SECRET}
    assert endpoint.headers == {"X-Team": "search", "X-Key": "k: v"}
    assert endpoint.owner == people["editor"]
    assert SECRET not in response.content.decode()


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"engine": "nonsense"}, "engine"),
        ({"url": ""}, "url"),
        ({"url": "ftp://x"}, "url"),
        ({"parallel": "65"}, "parallel"),
        ({"parallel": "0"}, "parallel"),
        ({"per_minute": "-1"}, "per_minute"),
        ({"headers": "no colon"}, "headers"),
        ({"password": "p"}, "username"),
        ({"engine": "static"}, "file"),
    ],
)
def test_endpoint_new_errors_appear_at_their_field(sign_in, data, field):
    response = sign_in("editor").post("/endpoints/new/", {**FORM, **data})
    assert response.status_code == 422
    assert list(response.context["form"].errors) == [field]
    assert Endpoint.objects.count() == 0


def test_endpoint_edit_keeps_secrets_that_are_not_typed(sign_in, shared):
    client = sign_in("editor")
    page = compact(client.get(address(shared)).content.decode())
    assert SECRET not in page
    assert "header-secret" not in page
    assert ">set</span>" in compact(page)
    client.post(address(shared), {**FORM, "name": "renamed", "parallel": "2"})
    endpoint = Endpoint.objects.get()
    assert (endpoint.name, endpoint.parallel, endpoint.credentials["password"]) == ("renamed", 2, SECRET)
    assert endpoint.headers == {"X-Key": "header-secret"}


def test_endpoint_edit_replaces_and_forgets_secrets(sign_in, shared):
    client = sign_in("editor")
    client.post(address(shared), {**FORM, "api_key": "new-key"})
    assert Endpoint.objects.get().credentials == {"api_key": "new-key"}
    client.post(address(shared), {**FORM, "clear": "on"})
    endpoint = Endpoint.objects.get()
    assert (endpoint.credentials, endpoint.headers) == ({}, {})
    assert ">not set</span>" in compact(client.get(address(shared)).content.decode())


def test_endpoint_edit_never_sends_stored_secrets_to_another_address(sign_in, shared):
    client = sign_in("editor")
    moved = {**FORM, "url": "http://127.0.0.1:2/solr/mine"}
    response = client.post(address(shared), moved)
    assert response.status_code == 422
    assert "Enter the credentials" in str(response.context["form"].errors["url"])
    assert client.post(address(shared), {**moved, "username": "me", "password": "mine"}).status_code == 422
    assert Endpoint.objects.get().url == SOLR
    assert client.post(address(shared), {**moved, "clear": "on"}).status_code == 302
    assert (Endpoint.objects.get().url, Endpoint.objects.get().credentials) == (moved["url"], {})


def test_endpoint_edit_name_taken(sign_in, people, shared):
    make_endpoint(people["admin"], "other")
    response = sign_in("editor").post(address(shared), {**FORM, "name": "other"})
    assert "cannot be used" in str(response.context["form"].errors["name"])


def test_endpoint_try_says_what_is_wrong(sign_in, shared):
    response = sign_in("editor").post(address(shared, "try"), {"text": "star"}, headers={"HX-Request": "true"})
    page = response.content.decode()
    assert response.status_code == 200
    assert 'id="connection-test"' in page
    assert "<html" not in page
    assert "Connection refused" in page
    assert SECRET not in page


def test_endpoint_try_shows_documents(sign_in, people):
    upload = endpoints.uploads.store(
        engine="static",
        content=b"query,docid,position,title\nstar,1,1,Star <b>Wars</b>\n",
        name="a.csv",
        by=people["editor"],
    )
    endpoint = make_endpoint(people["editor"], "file", engine="static", url=upload)
    page = sign_in("editor").post(address(endpoint, "try"), {"text": "star"}).content.decode()
    assert Endpoint.objects.get(pk=endpoint.pk).version == "CSV with 1 query"
    assert "Star &lt;b&gt;Wars&lt;/b&gt;" in page
    assert "CSV with 1 query" in page
    assert "1 hit for “star”" in compact(page)
    version = (
        sign_in("editor").post(address(endpoint, "try") + "?of=list", headers={"HX-Request": "true"}).content.decode()
    )
    assert version.strip().startswith("<span")
    assert "CSV with 1 query" in version


def test_list_shows_the_version_that_was_asked_for_last(sign_in, people, shared):
    listed = sign_in("editor").get("/endpoints/").content.decode()
    assert "not known" in listed
    assert address(shared, "try") in listed
    Endpoint.objects.filter(pk=shared.pk).update(version="Solr 9.10.1")
    listed = sign_in("viewer").get("/endpoints/").content.decode()
    assert "Solr 9.10.1" in listed
    assert "not known" not in listed
    endpoints.update(endpoint=shared, by=people["admin"], clear=True, url="http://127.0.0.1:2/solr/films")
    shared.refresh_from_db()
    assert shared.version == ""


def test_endpoint_archive_and_undo(sign_in, people, shared):
    make_run(make_case(people["admin"], endpoint=shared))
    client = sign_in("editor")
    response = client.post(address(shared, "archive"), follow=True)
    page = response.content.decode()
    assert f'action="{address(shared, "restore")}"' in page
    assert list(response.context["endpoints"]) == []
    assert Run.objects.count() == 1
    assert "films" in client.get("/endpoints/?archived=1").content.decode()
    client.post(address(shared, "restore"))
    assert Endpoint.objects.get().archived_at is None


def test_endpoint_list_counts_cases_and_statements(sign_in, people, team, django_assert_num_queries):
    endpoint = make_endpoint(people["admin"])
    client = sign_in("viewer")
    for number in range(4):
        make_case(people["admin"], f"Case {number}", endpoint=endpoint, team=team)
        make_endpoint(people["viewer"], f"mine {number}")
    with django_assert_num_queries(4):
        response = client.get("/endpoints/")
    assert {row.name: row.cases for row, _ in response.context["endpoints"]}["films"] == 4


def test_endpoint_whose_key_is_gone(sign_in, shared, settings):
    settings.CREDENTIALS_KEYS = ["MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="]
    client = sign_in("editor")
    assert client.get("/endpoints/").status_code == 200
    assert "cannot be decrypted" in client.post(address(shared, "try"), {"text": "star"}).content.decode()
    assert "cannot be decrypted" in compact(client.get(address(shared)).content.decode())
    client.post(address(shared), {**FORM, "username": "u", "password": "again"})
    assert Endpoint.objects.get().credentials == {"username": "u", "password": "again"}


@pytest.mark.parametrize(
    ("who", "status"),
    [("viewer", 403), ("rater", 403), ("editor", 403), ("owner", 302), ("stranger", 404), ("admin", 302)],
)
def test_endpoint_share_is_for_owners(sign_in, people, team, shared, who, status):
    other = Team.objects.get(name="Others")
    other.memberships.create(user=people["owner"], role=Role.EDITOR)
    client = sign_in(who)
    page_url = address(shared, "share")
    assert client.get(page_url).status_code == {302: 200}.get(status, status)
    assert client.post(page_url, {"team": other.pk, "do": "share"}).status_code == status
    assert shared.teams.filter(pk=other.pk).exists() == (status == 302)
    assert client.post(page_url, {"team": team.pk, "do": "unshare"}).status_code == status
    assert shared.teams.filter(pk=team.pk).exists() == (status != 302)


def test_endpoint_share_is_offered_to_owners(sign_in, shared):
    assert address(shared, "share") not in sign_in("editor").get(address(shared)).content.decode()
    assert address(shared, "share") in sign_in("owner").get(address(shared)).content.decode()
