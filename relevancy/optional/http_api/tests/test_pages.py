"""Endpoints that are search APIs: their options in the forms, the connection test, and a case that uses one."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from relevancy.models import Attempt, Case, Endpoint
from tests.contracts.local_server import json_reply, serving
from tests.markup import compact
from tests.views.factories import make_endpoint
from tests.views.new_case.test_pages import named, step

FILMS = [
    {"sku": 11, "name": "Star Wars", "about": {"year": 1977}},
    {"sku": 12, "name": "Star Trek", "about": {"year": 1979}},
]
API = {"option_method": "GET", "option_template": "term=#$query##", "option_hits": "data.found", "option_id": "sku"}


def films_api(request):
    term = parse_qs(urlsplit(request.path).query).get("term", [""])[0]
    films = [film for film in FILMS if term.lower() in film["name"].lower()]
    return json_reply({"data": {"found": films, "count": len(films)}})


@pytest.fixture
def api():
    with serving(films_api) as server:
        yield server


@pytest.fixture
def form(api):
    return {"name": "films", "engine": "http", "url": f"{api.url}/search", "parallel": "8", "per_minute": "0", **API}


def address(endpoint, action=""):
    return f"/endpoints/{endpoint.pk}/{action and action + '/'}"


def test_options_are_in_the_form_without_javascript(sign_in):
    page = sign_in("editor").get("/endpoints/new/?engine=http").content.decode()
    for name in ("method", "template", "hits", "id", "document", "total", "score", "rows_parameter", "start_parameter"):
        assert f'name="option_{name}"' in page
    assert 'class="when-options stack"' in page


def test_endpoint_new_stores_only_what_was_typed(sign_in, form):
    form |= {"option_template": "a=1\r\n&term=#$query##", "option_score": " ", "option_total": "data.count"}
    assert sign_in("editor").post("/endpoints/new/", form).status_code == 302
    assert Endpoint.objects.get().options == {
        "method": "GET", "template": "a=1\n&term=#$query##", "hits": "data.found", "id": "sku", "total": "data.count",
    }  # fmt: skip


def test_endpoint_new_of_another_engine_has_no_such_options(sign_in, form):
    sign_in("editor").post("/endpoints/new/", {**form, "engine": "solr", "url": "http://127.0.0.1:1/solr/films"})
    assert Endpoint.objects.get().options == {}


@pytest.mark.parametrize(
    ("data", "field", "words"),
    [
        ({"option_hits": ""}, "option_hits", "list of hits is missing"),
        ({"option_hits": "data.["}, "option_hits", "column 7"),
        ({"option_total": "count(@)"}, "option_total", "count() is not a function"),
        ({"option_score": "a b"}, "option_score", "column 3"),
        ({"option_template": "q=#$nothing##"}, "option_template", "Line 1, column 3"),
        ({"option_template": '{"q": 1}'}, "option_template", "cannot be sent with GET"),
        ({"option_lookup": "http://elsewhere.example/{id}"}, "option_lookup", "Begin with / or ?"),
        ({"option_rows_parameter": "a b"}, "option_rows_parameter", "not the name"),
        ({"option_method": "DELETE"}, "option_method", "valid choice"),
    ],
)
def test_endpoint_new_errors_appear_at_their_field(sign_in, form, data, field, words):
    response = sign_in("editor").post("/endpoints/new/", {**form, **data})
    assert response.status_code == 422
    assert list(response.context["form"].errors) == [field]
    assert words in str(response.context["form"].errors[field].as_data()[0].message)
    assert Endpoint.objects.count() == 0


def test_endpoint_edit_keeps_what_the_form_does_not_show(sign_in, people, form):
    options = {"hits": "old", "score": "weight", "read_timeout": 3, "query_options": {"lang": "de"}}
    endpoint = make_endpoint(people["editor"], engine="http", url=form["url"], options=options)
    client = sign_in("editor")
    page = client.get(address(endpoint)).content.decode()
    assert 'value="old"' in page
    assert 'value="weight"' in page
    assert client.post(address(endpoint), form).status_code == 302
    endpoint.refresh_from_db()
    assert endpoint.options == {
        "read_timeout": 3, "query_options": {"lang": "de"},
        "method": "GET", "template": "term=#$query##", "hits": "data.found", "id": "sku",
    }  # fmt: skip
    assert client.post(address(endpoint), {**form, "option_hits": "b["}).status_code == 422
    endpoint.refresh_from_db()
    assert endpoint.options["hits"] == "data.found"


def test_endpoint_try_shows_documents_and_what_does_not_fit(sign_in, people, form, api):
    options = {
        "template": "term=#$query##",
        "hits": "data.found",
        "id": "sku",
        "total": "data.count",
        "test_query": "star",
    }
    endpoint = make_endpoint(people["editor"], engine="http", url=form["url"], options=options)
    page = sign_in("editor").post(address(endpoint, "try"), {"text": "trek"}).content.decode()
    assert "1 hit for “trek”" in compact(page)
    assert "about.year, id, name, sku" in page
    assert '<span class="title">Star Trek</span>' in page
    endpoint.options = {**options, "hits": "data.films"}
    endpoint.save()
    page = sign_in("editor").post(address(endpoint, "try"), {"text": "trek"}).content.decode()
    assert "“data.films” (option hits) found nothing" in page
    assert "data.found (2)" in page


def test_new_case_of_an_api(sign_in, form):
    client = sign_in("editor")
    named(client)
    where = {name: form[name] for name in ("name", "engine", "url", *API)}
    wrong = step(client, "endpoint", "try", **{**where, "option_hits": "data[", "text": "star"})
    assert list(wrong.context["form"].errors) == ["option_hits"]
    lost = step(client, "endpoint", "next", **{**where, "option_id": "ref", "text": "star"})
    assert lost.status_code == 422
    assert "Hit 1 has no id" in lost.content.decode()
    tried = step(client, "endpoint", "try", **{**where, "text": "star"})
    assert [document.id for document in tried.context["connection_test"].documents] == ["11", "12"]
    assert 'value="data.found"' in tried.content.decode()
    assert step(client, "endpoint", "next", **{**where, "text": "star"}).headers["Location"] == "/cases/new/fields/"
    page = client.get("/cases/new/fields/")
    initial = page.context["form"].initial
    assert (initial["id"], initial["title"], initial["template"]) == ("id", "name", "term=#$query##")
    assert page.context["names"] == ["about.year", "id", "name", "sku"]
    assert 'data-editor="params"' in page.content.decode()
    chosen = {"id": "id", "title": "name", "thumb": "", "more": "about.year", "template": "term=#$query##"}
    shown = step(client, "fields", "try", **chosen, text="trek")
    assert shown.context["connection_test"].documents[0].subs == (("about.year", "1979"),)
    assert step(client, "fields", **chosen).headers["Location"] == "/cases/new/queries/"
    assert step(client, "queries", "create", queries="star\nwars").status_code == 302
    endpoint = Case.objects.get().attempts.get().endpoint
    assert (endpoint.engine, endpoint.options["hits"], endpoint.options["id"]) == ("http", "data.found", "sku")
    assert Attempt.objects.get().escape is False


def test_new_case_of_an_api_without_a_template_of_its_own(sign_in, api, form):
    """Names of fields come from what the query found, and the template is one that many APIs understand."""
    api.respond = lambda received: json_reply(FILMS)
    client = sign_in("editor")
    named(client)
    where = {"name": "films", "engine": "http", "url": form["url"], "option_hits": "@", "option_id": "sku"}
    assert step(client, "endpoint", **where, option_method="POST", text="star").status_code == 302
    assert json.loads(api.received[-1].body) == {"query": "star"}
    page = client.get("/cases/new/fields/")
    assert page.context["names"] == ["about.year", "id", "name", "sku"]
    assert page.context["form"].initial["template"] == '{"query": "#$query##"}'
    assert 'data-editor="json"' in page.content.decode()


def test_preset_fills_the_form_and_stores_nothing(sign_in):
    client = sign_in("editor")
    sent = {
        "name": "shop",
        "engine": "http",
        "url": "https://example.com/collections/films/points/query",
        "parallel": "4",
    }
    page = client.post("/endpoints/new/", {**sent, "per_minute": "0", "preset": "qdrant", "fill": "preset"})
    assert page.status_code == 200
    assert Endpoint.objects.count() == 0
    form = page.context["form"]
    assert form["name"].value() == "shop"
    assert form["parallel"].value() == "4"
    assert form["option_hits"].value() == "result.points"
    assert form["option_method"].value() == "POST"
    assert form["option_total"].value() == ""
    assert form["headers"].value() == "api-key: \n"
    assert 'id="preset-notes"' in page.content.decode()
    assert "api-key" in page.content.decode()


def test_header_of_a_preset_needs_its_value(sign_in, form):
    response = sign_in("editor").post("/endpoints/new/", {**form, "headers": "api-key: \n"})
    assert response.status_code == 422
    assert "api-key has no value" in str(response.context["form"].errors["headers"])


def test_preset_of_a_stored_endpoint_keeps_its_secrets_out_of_the_page(sign_in, people, form):
    endpoint = make_endpoint(
        people["editor"], engine="http", url=form["url"], options={"hits": "old"}, headers={"X-Key": "very-secret"}
    )
    client = sign_in("editor")
    page = client.post(address(endpoint), {**form, "password": "typed-secret", "preset": "algolia", "fill": "preset"})
    assert page.context["form"]["option_hits"].value() == "hits"
    assert not page.context["form"]["headers"].value()
    for secret in ("very-secret", "typed-secret"):
        assert secret not in page.content.decode()
    endpoint.refresh_from_db()
    assert endpoint.options == {"hits": "old"}


def test_fill_without_a_preset_keeps_what_was_entered(sign_in, form):
    page = sign_in("editor").post("/endpoints/new/", {**form, "fill": "preset", "preset": ""})
    assert page.status_code == 200
    assert page.context["form"]["option_hits"].value() == "data.found"
