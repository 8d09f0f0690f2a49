"""Tests of the page that makes a case of a file."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from relevancy import engines, runs
from relevancy.models import Case, Endpoint, Rating, Run, Scorer
from relevancy.optional.quepid.tests.quepid_files import CASE, ENDPOINT, TRY
from tests.contracts.local_server import json_reply, serving
from tests.formats import relevancy_files
from tests.views.factories import make_endpoint

URL = "/cases/import/"
FROM_FILE = "file:solr:http://127.0.0.1:1/solr/shop/select"


def send(client, content=None, do="preview", htmx=False, **data):
    content = json.dumps(CASE if content is None else content).encode() if not isinstance(content, bytes) else content
    headers = {"HX-Request": "true"} if htmx else {}
    return client.post(URL, {"do": do, "file": SimpleUploadedFile("case.json", content), **data}, headers=headers)


def choices(page):
    return [value for value, _ in page.context["form"].fields["endpoint"].choices]


def test_page_and_links(sign_in):
    client = sign_in("rater")
    assert client.get(URL).status_code == 200
    assert "<html" in client.get(URL, headers={"HX-Request": "true"}).content.decode()  # no file was sent
    assert URL in client.get("/").content.decode()


def test_preview_says_what_will_be_made_and_makes_nothing(sign_in):
    page = send(sign_in("owner"))
    assert page.status_code == 200
    plan = page.context["plan"]
    assert (len(plan.content.book.details), plan.content.book.ratings.count, len(plan.new_raters)) == (2, 2, 2)
    text = page.content.decode()
    assert 'data-count="ratings"' in text
    assert "http://127.0.0.1:1/solr/shop/select" in text
    assert "secret" not in text
    assert 'form="case-preview-form"' in text
    assert not Case.objects.exists()
    assert not Endpoint.objects.exists()


def test_preview_is_a_fragment_for_htmx(sign_in):
    assert "<html" not in send(sign_in("owner"), htmx=True).content.decode()


def test_preview_offers_the_endpoint_of_the_file_only_with_permission(sign_in, people):
    assert FROM_FILE in choices(send(sign_in("editor")))
    page = send(sign_in("rater"))
    assert choices(page) == ["", "none"]
    assert "may not create endpoints" in page.content.decode()


def test_preview_chooses_an_endpoint_with_the_same_address(sign_in, people):
    endpoint = make_endpoint(people["editor"], url="http://127.0.0.1:1/solr/shop/select")
    page = send(sign_in("editor"))
    assert page.context["form"].fields["endpoint"].initial == str(endpoint.pk)


def test_import_creates_the_case_and_starts_its_run(sign_in, people):
    page = send(sign_in("editor"), do="import", name="Phones", scorer="", endpoint=FROM_FILE)
    case = Case.objects.get()
    assert (page.status_code, page["Location"]) == (302, f"/cases/{case.pk}/")
    assert (case.name, case.owner, Rating.objects.count()) == ("Phones", people["editor"], 2)
    assert Endpoint.objects.get().url == "http://127.0.0.1:1/solr/shop/select"
    assert Run.objects.get(case=case).queries == 2


def test_import_without_the_attempt_opens(sign_in):
    client = sign_in("rater")
    page = send(client, do="import", name="Phones", endpoint="none")
    assert page.status_code == 302
    assert client.get(page["Location"]).status_code == 200
    assert not Run.objects.exists()


def test_import_with_another_scorer(sign_in):
    other = Scorer.objects.get(name="nDCG@10")
    send(sign_in("rater"), do="import", name="Phones", endpoint="none", scorer=other.pk)
    assert list(Case.objects.get().scorers.all()) == [other]


def test_import_needs_a_scorer_that_the_file_does_not_have(sign_in):
    content = {**CASE, "scorer": {"name": "House"}}
    page = send(sign_in("rater"), content, do="import", name="Phones", endpoint="none")
    assert page.status_code == 422
    assert "scorer" in page.context["form"].errors
    assert not Case.objects.exists()


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"name": "", "endpoint": "none"}, "name"),
        ({"name": "x"}, "endpoint"),
        ({"name": "x", "endpoint": "file:solr:http://other"}, "endpoint"),
        ({"name": "x", "endpoint": "999999"}, "endpoint"),
    ],
)
def test_import_refuses_what_was_not_offered(sign_in, data, field):
    page = send(sign_in("editor"), do="import", **data)
    assert page.status_code == 422
    assert field in page.context["form"].errors
    assert not Case.objects.exists()


def test_import_with_an_invalid_template_creates_nothing(sign_in):
    content = {**CASE, "try": {**TRY, "query_params": "q=#$query"}}
    assert send(sign_in("editor"), content).context["attempt_problem"]
    page = send(sign_in("editor"), content, do="import", name="x", endpoint=FROM_FILE)
    assert page.status_code == 422
    assert not Case.objects.exists()
    assert not Endpoint.objects.exists()


@pytest.mark.parametrize(
    "content", [b"{", b"\xff\xfe{", b"PK\x03\x04", {"name": "Book"}, {**CASE, "queries": [{"query_text": "x" * 3000}]}]
)
@pytest.mark.parametrize("htmx", [False, True])
def test_bad_files_are_refused_with_a_message(sign_in, content, htmx):
    page = send(sign_in("editor"), content, htmx=htmx)
    assert page.status_code == 422
    assert page.context["file_form"].errors["file"]


def test_a_missing_file_and_a_wrong_button(sign_in):
    client = sign_in("editor")
    assert client.post(URL, {"do": "preview"}).status_code == 422
    assert client.post(URL, {"do": "else"}).status_code == 400


def test_an_endpoint_that_cannot_be_created_says_why(sign_in):
    page = send(
        sign_in("editor"), {**CASE, "try": {**TRY, "search_endpoint": {**ENDPOINT, "search_engine": "searchapi"}}}
    )
    assert choices(page)[-1] == "none"
    assert not [value for value in choices(page) if value.startswith("file:")]
    assert "mapper code" in page.content.decode()


def test_the_mapper_of_a_search_api_is_imported_and_reads_its_responses(sign_in):
    """One upload: the endpoint of the file answers with the script of the file."""
    script = (
        "numberOfResultsMapper = function (data) { return data.count };\n"
        "docsMapper = function (data) { return data.found.map(function (d) { return {id: d.sku, title: d.name} }) };"
    )
    result = {"count": 31, "found": [{"sku": 7, "name": "Phone"}, {"sku": "a", "name": "Case"}]}
    with serving(lambda received: json_reply(result)) as server:
        endpoint = {
            **ENDPOINT,
            "search_engine": "searchapi",
            "endpoint_url": f"{server.url}/find",
            "mapper_code": script,
        }
        content = {**CASE, "try": {**TRY, "query_params": "q=#$query##", "search_endpoint": endpoint}}
        client = sign_in("editor")
        preview = send(client, content)
        assert "mapper script" in preview.content.decode()
        (offered,) = [value for value in choices(preview) if value.startswith("file:")]
        assert send(client, content, do="import", name="Shop", scorer="", endpoint=offered).status_code == 302
        trial = client.post(f"/endpoints/{Endpoint.objects.get().pk}/mapping/", {
            **{f"option_{name}": value for name, value in Endpoint.objects.get().options.items()}, "text": "x", "send": "1",
        })  # fmt: skip
        mapped = trial.context["mapped"]
        assert [(item.id, item.title) for item in mapped.documents] == [("7", "Phone"), ("a", "Case")]
        assert mapped.total == 31
        run = Run.objects.get()
        Endpoint.objects.update(per_minute=0)  # threads that share a connection in memory cannot reserve requests
        runs.continue_run(run.pk)
    hits = [[hit[0] for hit in ranking.hits] for ranking in run.rankings.all()]
    assert hits == [["7", "a"], ["7", "a"]]
    assert {ranking.total for ranking in run.rankings.all()} == {31}


@pytest.fixture
def without_engines_of_apps(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("relevancy.engines.registry._of_apps", [])
        engines.available.cache_clear()
        yield
    engines.available.cache_clear()


@pytest.mark.usefixtures("without_engines_of_apps")
def test_a_search_api_where_there_is_no_engine_for_it(sign_in):
    content = {
        **CASE,
        "try": {
            **TRY,
            "search_endpoint": {**ENDPOINT, "search_engine": "searchapi", "mapper_code": "docsMapper = d => d"},
        },
    }
    client = sign_in("editor")
    (offered,) = [value for value in choices(send(client, content)) if value.startswith("file:")]
    page = send(client, content, do="import", name="Shop", scorer="", endpoint=offered)
    assert page.status_code == 422
    assert "No engine “http” is installed" in page.content.decode()
    assert send(client, content, do="import", name="Shop", scorer="", endpoint="none").status_code == 302


def test_a_large_case_is_left_to_the_command(sign_in, monkeypatch):
    monkeypatch.setattr("relevancy.formats.cases.case_content.MAX_ON_PAGE", 1)
    page = send(sign_in("editor"), do="import", name="x", endpoint="none")
    assert page.status_code == 422
    assert "2 ratings; a page imports at most 1" in page.context["file_form"].errors["file"][0]
    assert not Case.objects.exists()


def test_a_file_of_our_own_keeps_attempts_and_runs(sign_in):
    client = sign_in("admin")
    page = send(client, relevancy_files.CASE)
    text = page.content.decode()
    assert 'data-count="runs"' in text and "does not contain its address" in text
    assert choices(page)[:1] == [""] and choices(page)[-1] == "none"
    answer = send(client, relevancy_files.CASE, do="import", name="Mine", endpoint="none")
    case = Case.objects.get()
    assert (answer.status_code, case.name, case.runs.get().number) == (302, "Mine", 4)
    assert client.get(answer["Location"]).status_code == 200
    assert client.get(f"/cases/{case.pk}/attempts/").status_code == 200


@pytest.mark.parametrize("content", [{**relevancy_files.CASE, "format": "relevancy/9"}, relevancy_files.BOOK])
def test_a_file_of_our_own_that_is_no_case_of_this_version_is_refused(sign_in, content):
    page = send(sign_in("admin"), content, do="import", name="Mine", endpoint="none")
    assert page.status_code == 422
    assert not Case.objects.exists()
