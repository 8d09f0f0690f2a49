"""The page that tries the mapping of an HTTP API on a pasted response."""

import json

import pytest

from relevancy.models import Endpoint, Policy
from tests.contracts.local_server import json_reply, serving
from tests.markup import compact
from tests.views.factories import make_endpoint

RESPONSE = {"data": {"found": [{"item": {"sku": 7, "name": "Alien"}}, {"item": {"name": "Aliens"}}], "count": 40}}
NEW = "/endpoints/mapping/"
MAPPING = {
    "option_hits": "data.found", "option_id": "item.sku", "option_document": "item", "option_total": "data.count",
}  # fmt: skip


@pytest.fixture
def api():
    with serving(lambda received: json_reply(RESPONSE)) as server:
        yield server


@pytest.fixture
def endpoint(people, api):
    options = {"hits": "data.nothing", "template": "term=#$query##", "score": "weight"}
    return make_endpoint(people["editor"], engine="http", url=f"{api.url}/search", options=options)


def mapping(endpoint):
    return f"/endpoints/{endpoint.pk}/mapping/"


def problems(page):
    return {problem.option: (problem.message, problem.count) for _, problem in page.context["problems"]}


def test_documents_of_a_pasted_response_and_each_mistake_at_its_option(sign_in):
    page = sign_in("editor").post(NEW, {"response": json.dumps(RESPONSE), **MAPPING})
    mapped = page.context["mapped"]
    assert (mapped.document_count, mapped.total) == (2, 40)
    assert [(item.id, item.title) for item in mapped.documents] == [("7", "Alien"), ("", "Aliens")]
    assert [item.is_complete for item in mapped.documents] == [True, False]
    assert list(problems(page)) == ["id"]
    assert "“item” has no “sku”; it is an object with name." in problems(page)["id"][0]
    wrong = {**MAPPING, "option_total": "data.found", "option_document": "item.fields", "option_hits": "data.items"}
    both = problems(sign_in("editor").post(NEW, {"response": json.dumps(RESPONSE), **wrong}))
    assert set(both) == {"hits", "total"}
    assert "“data” has no “items”; it is an object with found, count." in both["hits"][0]
    again = problems(
        sign_in("editor").post(NEW, {"response": json.dumps(RESPONSE), **wrong, "option_hits": "data.found"})
    )
    assert again["document"][1] == 2
    assert Endpoint.objects.count() == 0


@pytest.mark.parametrize(
    ("response", "option", "words"),
    [
        ('{"a": [1,\n 2 3]}', "", "Line 2, column 4"),
        ("<html>busy</html>", "", "not JSON. Line 1, column 1"),
        ("7", "", "a single value"),
        ("[" * 100_000, "", "nested too deeply"),
        ("x" * 1_000_001, "", "1,000,001 characters"),
        ("{}", "hits", "no “data”; it is an empty object"),
    ],
)
def test_what_is_wrong_with_a_response(sign_in, response, option, words):
    page = sign_in("editor").post(NEW, {"response": response, **MAPPING})
    assert page.status_code == 200
    assert words in problems(page)[option][0]


def test_htmx_gets_only_what_the_mapping_finds(sign_in):
    page = (
        sign_in("editor")
        .post(NEW, {"response": "[]", "option_hits": "@"}, headers={"HX-Request": "true"})
        .content.decode()
    )
    assert "<html" not in page
    assert 'id="mapped"' in page
    assert "empty list" in page


def test_a_stored_mapping_is_tried_with_a_query_and_goes_back_to_the_form(sign_in, endpoint, api):
    client = sign_in("editor")
    page = client.get(mapping(endpoint))
    assert 'value="data.nothing"' in page.content.decode()
    assert page.context["mapped"] is None
    sent = {"response": "", "text": "alien", "option_hits": "data.found", **page.context["form"].kept}
    page = client.post(mapping(endpoint), {**sent, "send": "1"})
    assert api.received[0].path == "/search?term=alien"
    assert json.loads(page.context["form"]["response"].value()) == RESPONSE
    assert page.context["mapped"].document_count == 2
    assert page.context["form"].kept["option_template"] == "term=#$query##"
    form = client.post(f"/endpoints/{endpoint.pk}/", {**sent, "fill": "mapping"})
    assert form.status_code == 200
    assert form.context["form"]["option_hits"].value() == "data.found"
    assert form.context["form"]["option_template"].value() == "term=#$query##"
    assert form.context["form"]["url"].value() == endpoint.url
    endpoint.refresh_from_db()
    assert endpoint.options["hits"] == "data.nothing"


def test_query_that_is_not_answered(sign_in, endpoint, api):
    api.respond = lambda received: json_reply({"message": "over quota"}, status=400)
    page = sign_in("editor").post(mapping(endpoint), {"text": "x", "send": "1", "option_hits": "@"})
    assert "over quota" in page.context["failure"]
    assert "over quota" in compact(page.content.decode())


def test_secrets_do_not_come_back(sign_in, endpoint):
    client = sign_in("editor")
    entered = {"password": "s3cret-1", "bearer": "s3cret-2", "headers": "X-Key: s3cret-3", "name": "films", **MAPPING}
    for address in (NEW, mapping(endpoint)):
        page = client.post(address, entered).content.decode()
        assert "s3cret" not in page
        assert 'value="films"' in page


def test_links_from_the_forms(sign_in, endpoint):
    client = sign_in("editor")
    assert f'formaction="{NEW}"' in client.get("/endpoints/new/?engine=http").content.decode()
    assert f'formaction="{mapping(endpoint)}"' in client.get(f"/endpoints/{endpoint.pk}/").content.decode()


def test_mapper_script_with_its_console_and_errors(sign_in):
    client = sign_in("editor")
    script = (
        "docsMapper = function (data) {\n  console.log('found', data.data.found.length);\n"
        "  return data.data.%s.map(r => r.item);\n}"
    )
    page = client.post(NEW, {"response": json.dumps(RESPONSE), "option_mapper": script % "found"})
    assert page.context["mapped"].console == ("found 2",)
    assert [item.is_complete for item in page.context["mapped"].documents] == [False, False]
    assert "Let docsMapper give each document an id" in problems(page)["mapper"][0]
    assert problems(page)["mapper"][1] == 2
    page = client.post(NEW, {"response": json.dumps(RESPONSE), "option_mapper": script % "nothing"})
    assert problems(page)["mapper"][0].startswith(
        "The mapper script failed. Line 3: Cannot read properties of undefined"
    )
    assert 'id="mapper-console"' in page.content.decode()
    page = client.post(NEW, {"response": "[]", "option_mapper": "docsMapper = ("})
    assert "The mapper script failed. Line 1: " in problems(page)["mapper"][0]
    page = client.post(
        NEW, {"response": "[]", "option_mapper": "docsMapper = d => d", "option_hits": "a", "option_score": "b"}
    )
    assert "expressions, too: hits, score" in problems(page)["mapper"][0]


def test_mapper_script_is_compiled_when_it_is_saved(sign_in, people, endpoint):
    client = sign_in("editor")
    sent = {
        "name": "films", "engine": "http", "url": endpoint.url, "parallel": "8", "per_minute": "0", "option_method": "GET",
    }  # fmt: skip
    page = client.post(f"/endpoints/{endpoint.pk}/", {**sent, "option_mapper": "docsMapper = d => {"})
    assert page.status_code == 422
    assert "Line 1: " in str(page.context["form"].errors["option_mapper"])
    script = "docsMapper = d =>\r\n  d.found"
    assert client.post(f"/endpoints/{endpoint.pk}/", {**sent, "option_mapper": script}).status_code == 302
    endpoint.refresh_from_db()
    assert endpoint.options == {"method": "GET", "mapper": "docsMapper = d =>\n  d.found"}
    Policy.objects.update_or_create(pk=1, defaults={"allow_user_scripts": False})
    changed = client.post(f"/endpoints/{endpoint.pk}/", {**sent, "option_mapper": "docsMapper = d => []"})
    assert "disabled scripts" in str(changed.context["form"].errors["option_mapper"])
    assert (
        client.post(f"/endpoints/{endpoint.pk}/", {**sent, "option_mapper": script, "parallel": "3"}).status_code == 302
    )
