"""A new case in steps: nothing is created before the last one, no input is lost, each error appears at its field."""

import re
from io import BytesIO

import pytest
from django.core.exceptions import ValidationError

from relevancy import endpoints, hooks, queries, scorers
from relevancy.models import (
    Attempt,
    Book,
    Case,
    CaseScore,
    Endpoint,
    Rating,
    Role,
    Run,
    Scorer,
    ScorerDefinition,
    StoredIndex,
    Team,
)
from tests.contracts.fakes import fake_elasticsearch
from tests.contracts.local_server import json_reply, serving
from tests.factories import make_user
from tests.markup import compact
from tests.views.factories import make_case, make_endpoint

CSV = b"query,docid,position,title\nstar wars,1,1,Star Wars\nstar wars,2,2,Empire\nstar trek,3,1,Star Trek\n"
NAMED = {"name": "Movies", "scale_from": "scorer"}
SOLR = "http://127.0.0.1:1/solr/films"


def step(client, place, do="next", /, **data):
    return client.post(f"/cases/new/{place}/", {"do": do, **data})


def named(client, **data):
    scorer = Scorer.objects.get(is_default=True)
    return step(client, "scale", **{**NAMED, "scorer": scorer.pk, **data})


def uploaded(content=CSV, name="old shop.csv"):
    file = BytesIO(content)
    file.name = name
    return file


def with_file(client, do="next"):
    return step(client, "endpoint", do, name="old", engine="static", file=uploaded())


def at_queries(client):
    """Through the first three steps with a file of rankings."""
    assert named(client).status_code == 302
    assert with_file(client).status_code == 302
    page = client.get("/cases/new/fields/")
    initial = page.context["form"].initial
    response = step(client, "fields", **{name: initial[name] for name in ("id", "title", "thumb", "more", "template")})
    assert response.headers["Location"] == "/cases/new/queries/"


@pytest.fixture
def nothing_made():
    yield
    assert (Case.objects.count(), Book.objects.count(), Attempt.objects.count()) == (0, 0, 0)


def test_steps_are_taken_in_order(sign_in, nothing_made):
    client = sign_in("editor")
    for name in ("endpoint", "fields", "queries"):
        assert client.get(f"/cases/new/{name}/").headers["Location"] == "/cases/new/scale/"
    assert client.get("/cases/new/nonsense/").status_code == 404
    named(client)
    assert client.get("/cases/new/queries/").headers["Location"] == "/cases/new/endpoint/"


@pytest.mark.parametrize(
    ("data", "field", "words"),
    [
        ({"name": " "}, "name", "required"),
        ({"scale_from": "own", "scale": ""}, "scale", "at least two grades"),
        ({"scale_from": "own", "scale": "a:b"}, "scale", "not a valid scale"),
        ({"scale_from": "own", "scale": "0 Poor, 0 Bad"}, "scale", "twice"),
        ({"scale_from": "book"}, "book", "Choose a book"),
        ({"scorer": "999"}, "scorer", "valid choice"),
    ],
)
def test_scale_errors_appear_at_their_field(sign_in, nothing_made, data, field, words):
    response = named(sign_in("editor"), **data)
    assert response.status_code == 422
    assert list(response.context["form"].errors) == [field]
    assert words in str(response.context["form"].errors[field])


def test_scale_keeps_what_was_typed(sign_in):
    client = sign_in("editor")
    named(client, name="Kept", scale_from="own", scale="1:5")
    page = client.get("/cases/new/scale/").content.decode()
    assert 'value="Kept"' in page
    assert 'value="1:5"' in page
    client.post("/cases/new/start-over/")
    assert "Kept" not in client.get("/cases/new/scale/").content.decode()


def test_begin_goes_on_with_what_was_typed(sign_in):
    client = sign_in("editor")
    named(client, name="Kept")
    assert 'value="Kept"' in client.get("/cases/new/", follow=True).content.decode()


def test_begin_with_an_engine(sign_in):
    client = sign_in("editor")
    page = client.get("/cases/new/?engine=static", follow=True)
    assert 'action="/cases/new/scale/?engine=static"' in page.content.decode()
    client.post("/cases/new/scale/?engine=static", {**NAMED, "scorer": Scorer.objects.get(is_default=True).pk})
    assert client.get("/cases/new/endpoint/").context["form"].initial["engine"] == "static"


def test_endpoint_back_checks_nothing_and_keeps_all(sign_in, nothing_made):
    client = sign_in("editor")
    named(client)
    response = step(client, "endpoint", "back", name="half", url="typed", engine="solr", password="hidden-1")
    assert response.headers["Location"] == "/cases/new/scale/"
    page = client.get("/cases/new/endpoint/").content.decode()
    assert 'value="half"' in page
    assert 'value="typed"' in page
    assert "hidden-1" not in page


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"engine": "solr", "url": SOLR}, "name"),
        ({"name": "x", "url": SOLR}, "engine"),
        ({"name": "x", "engine": "solr"}, "url"),
        ({"name": "x", "engine": "solr", "url": "not an address"}, "url"),
        ({"name": "x", "engine": "static"}, "file"),
        ({"name": "x", "engine": "solr", "url": SOLR, "password": "p"}, "username"),
        ({"name": "x", "engine": "solr", "url": SOLR, "api_key": "a", "bearer": "b"}, "bearer"),
    ],
)
def test_endpoint_errors_appear_at_their_field(sign_in, nothing_made, data, field):
    client = sign_in("editor")
    named(client)
    response = step(client, "endpoint", **data)
    assert response.status_code == 422
    assert list(response.context["form"].errors) == [field]


def test_endpoint_name_taken(sign_in, people, nothing_made):
    make_endpoint(people["owner"], "films")
    client = sign_in("editor")
    named(client)
    response = step(client, "endpoint", name="films", engine="solr", url=SOLR)
    assert "cannot be used" in str(response.context["form"].errors["name"])


def test_endpoint_that_fails_says_why_and_can_be_skipped(sign_in, nothing_made):
    client = sign_in("editor")
    named(client)
    where = {"name": "down", "engine": "solr", "url": SOLR, "text": "star"}
    for do in ("try", "next"):
        response = step(client, "endpoint", do, **where)
        assert response.status_code == 422
        assert "Connection refused" in response.context["connection_test"].error
        assert "Continue without a connection" in response.content.decode()
    assert client.get("/cases/new/fields/").status_code == 302
    assert step(client, "endpoint", "skip", **where).headers["Location"] == "/cases/new/fields/"
    assert client.get("/cases/new/fields/").status_code == 200
    assert Endpoint.objects.count() == 0


@pytest.mark.parametrize(
    ("address", "words"),
    [("http://169.254.169.254/solr/x", "never contacted"), ("http://10.1.2.3/solr/x", "does not allow")],
)
def test_endpoint_address_that_is_not_allowed_is_not_contacted(sign_in, nothing_made, address, words):
    client = sign_in("editor")
    named(client)
    response = step(client, "endpoint", name="x", engine="solr", url=address)
    assert response.status_code == 422
    assert words in response.content.decode()


def test_endpoint_credentials_are_sealed_in_the_session_and_stored_at_the_end(sign_in):
    client = sign_in("editor")
    named(client)
    where = {"name": "down", "engine": "solr", "url": SOLR}
    page = step(client, "endpoint", "try", **where, username="u", password="hunter2-secret").content.decode()
    assert "hunter2-secret" not in page
    assert "hunter2-secret" not in str(dict(client.session))
    step(client, "endpoint", "skip", **where)
    step(client, "fields", id="id", title="title", template="q=#$query##")
    step(client, "queries", "create", queries="star")
    assert Endpoint.objects.get(name="down").credentials == {"username": "u", "password": "hunter2-secret"}


def test_endpoint_credentials_can_be_forgotten(sign_in):
    client = sign_in("editor")
    named(client)
    where = {"name": "down", "engine": "solr", "url": SOLR}
    step(client, "endpoint", "try", **where, username="u", password="p")
    step(client, "endpoint", "try", **where, clear="on")
    assert client.session["case_wizard"]["sealed"] == ""


def test_endpoint_of_others_is_not_offered(sign_in, people):
    hidden = make_endpoint(people["owner"], "of the owner")
    client = sign_in("stranger")
    named(client)
    assert "of the owner" not in client.get("/cases/new/endpoint/").content.decode()
    response = step(client, "endpoint", "skip", endpoint_id=hidden.pk)
    assert list(response.context["form"].errors) == ["endpoint_id"]


@pytest.mark.parametrize("who", ["viewer", "rater"])
def test_endpoint_of_a_team_is_for_its_editors(sign_in, people, team, who):
    shared = make_endpoint(people["owner"], "shared")
    shared.teams.add(team)
    client = sign_in(who)
    named(client)
    page = client.get("/cases/new/endpoint/").content.decode()
    assert 'id="create-denied"' in page
    assert "shared" not in page.split('id="create-denied"')[0].split("<form", 1)[1]
    for data in ({"name": "mine", "engine": "solr", "url": SOLR}, {"endpoint_id": shared.pk}):
        response = step(client, "endpoint", "skip", **data)
        assert list(response.context["form"].errors) == ["endpoint_id"]


def test_endpoint_of_a_team_without_the_right_to_create(sign_in, people, team):
    team.can_create_endpoints = False
    team.save()
    shared = make_endpoint(people["owner"], "shared")
    shared.teams.add(team)
    client = sign_in("editor")
    named(client)
    response = step(client, "endpoint", "skip", name="mine", engine="solr", url=SOLR)
    assert list(response.context["form"].errors) == ["endpoint_id"]
    assert step(client, "endpoint", "skip", endpoint_id=shared.pk).status_code == 302


def test_endpoint_file_is_tried_with_its_own_query(sign_in, nothing_made):
    client = sign_in("editor")
    named(client)
    response = with_file(client, do="try")
    assert response.status_code == 200
    assert response.context["connection_test"].version == "CSV with 2 queries"
    assert [document.title for document in response.context["connection_test"].documents] == ["Star Wars", "Empire"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"query,docid\nx,1\n", "no column"),
        (b"query,docid,position\nx,1,first\n", "Line 2, column position"),
        (b"query,docid,position\n\xff,1,1\n", "line 2"),
    ],
)
def test_endpoint_bad_file(sign_in, nothing_made, content, words):
    client = sign_in("editor")
    named(client)
    response = step(client, "endpoint", name="old", engine="static", file=uploaded(content))
    assert response.status_code == 422
    assert words in str(response.context["form"].errors["file"])
    assert client.session["case_wizard"]["file"] == ""


def test_endpoint_keeps_a_good_file_when_something_else_is_wrong(sign_in):
    client = sign_in("editor")
    named(client)
    assert list(step(client, "endpoint", engine="static", file=uploaded()).context["form"].errors) == ["name"]
    assert step(client, "endpoint", engine="static", name="old").headers["Location"] == "/cases/new/fields/"


def at_fields(client):
    named(client)
    step(client, "endpoint", "skip", name="down", engine="solr", url=SOLR)


@pytest.mark.parametrize(
    ("data", "field", "words"),
    [
        ({"title": ""}, "title", "required"),
        ({"id": "two words"}, "id", "not the name of one field"),
        ({"more": "nonsense:x"}, "more", "Line 1"),
        ({"template": "q=#$query##&qf=##boost##&x=#$nothing##"}, "template", "Line 1, column"),
        ({"template": "x" * 20_001}, "template", "20000"),
    ],
)
def test_fields_errors_appear_at_their_field(sign_in, nothing_made, data, field, words):
    client = sign_in("editor")
    at_fields(client)
    response = step(client, "fields", **{"id": "id", "title": "title", "template": "q=#$query##", **data})
    assert response.status_code == 422
    assert list(response.context["form"].errors) == [field]
    assert words in str(response.context["form"].errors[field])


def test_fields_template_error_marks_its_place(sign_in):
    client = sign_in("editor")
    named(client)
    step(client, "endpoint", "skip", name="down", engine="elasticsearch", url="http://127.0.0.1:1/films")
    response = step(client, "fields", id="_id", title="title", template='{"query": {\n  "match" 1}}')
    assert 'data-error-line="2"' in response.content.decode()


def test_fields_suggest_a_template(sign_in):
    client = sign_in("editor")
    at_fields(client)
    response = step(client, "fields", "suggest", id="id", title="name", more="brand", template="broken ##")
    assert response.status_code == 200
    assert "qf=name^##title_boost## brand" in response.context["form"]["template"].value()


def test_fields_try_says_what_the_engine_says(sign_in):
    client = sign_in("editor")
    at_fields(client)
    fields = {"id": "id", "title": "title", "template": "q=#$query##"}
    assert list(step(client, "fields", "try", **fields).context["form"].errors) == ["text"]
    response = step(client, "fields", "try", text="star", **fields)
    assert response.status_code == 422
    assert "Connection refused" in response.content.decode()


def test_fields_are_suggested_again_for_another_endpoint(sign_in):
    client = sign_in("editor")
    at_fields(client)
    step(client, "fields", id="sku", title="name", template="q=#$query##")
    step(client, "endpoint", "skip", name="down", engine="elasticsearch", url="http://127.0.0.1:1/films")
    assert client.get("/cases/new/fields/").context["form"].initial["id"] == "_id"


def test_queries_of_a_file_become_the_cases(sign_in):
    client = sign_in("editor")
    at_queries(client)
    assert client.get("/cases/new/queries/").context["form"].initial["queries"] == "star wars\nstar trek"


@pytest.mark.parametrize("queries", ["", " \n\t\n"])
def test_queries_none(sign_in, nothing_made, queries):
    client = sign_in("editor")
    at_queries(client)
    response = step(client, "queries", "create", queries=queries)
    assert response.status_code == 422
    assert "at least one query" in str(response.context["form"].errors["queries"])


def test_queries_refused_lines_stop_it_and_are_named(sign_in, nothing_made):
    client = sign_in("editor")
    at_queries(client)
    pasted = "good\n" + "x" * 2049 + "\nbell\a\ngood\n<script>alert(1)</script>"
    response = step(client, "queries", "create", queries=pasted)
    assert response.status_code == 422
    page = response.content.decode()
    assert "<b>Line 2</b>" in page
    assert "<b>Line 3</b>" in page
    assert "U+0007" in page
    assert "“good”" in page
    assert "<script>alert" not in page


def test_queries_refused_lines_can_be_left_out(sign_in):
    client = sign_in("editor")
    at_queries(client)
    step(client, "queries", "without", queries="good\n" + "x" * 2049)
    assert list(Case.objects.get().case_queries.values_list("query__text", flat=True)) == ["good"]


def test_queries_count_makes_nothing(sign_in, nothing_made):
    client = sign_in("editor")
    at_queries(client)
    response = step(client, "queries", "check", queries="a\nb\na")
    assert response.status_code == 200
    assert "<b>2</b> queries read" in response.content.decode()


def test_queries_too_many(sign_in, nothing_made):
    client = sign_in("editor")
    at_queries(client)
    response = step(client, "queries", "create", queries="\n".join(f"q{n}" for n in range(20_001)))
    assert response.status_code == 422
    assert "20,000" in str(response.context["form"].errors["queries"])


def test_queries_ten_thousand_and_a_2000_character_one(sign_in):
    client = sign_in("editor")
    at_queries(client)
    pasted = "\n".join([*(f"query {n}" for n in range(9_999)), "ü" * 2000])
    assert step(client, "queries", "create", queries=pasted).status_code == 302
    assert Case.objects.get().case_queries.count() == 10_000


def test_create_makes_everything_and_wakes_the_run(sign_in, people, django_capture_on_commit_callbacks):
    client = sign_in("editor")
    at_queries(client)
    with django_capture_on_commit_callbacks(execute=True):
        response = step(client, "queries", "create", queries="star wars\n“emoji” 🎬 'quotes'\nstar wars")
    case = Case.objects.get()
    assert response.headers["Location"] == f"/cases/{case.pk}/"
    run = Run.objects.get()
    assert (run.status, run.queries, run.done) == ("incomplete", 2, 2)  # the file lacks one of the queries
    assert (case.owner, run.created_by, case.attempts.get().number) == (people["editor"], people["editor"], 1)
    assert case.attempts.get().fields == "id:id title:title"
    assert [hit[0] for hit in run.rankings.get(query__text="star wars").hits] == ["1", "2"]
    assert "case_wizard" not in client.session


def test_create_takes_the_scale_that_was_typed(sign_in):
    client = sign_in("editor")
    at_queries(client)
    named(client, scale_from="own", scale="0 Bad, 1 Good")
    step(client, "queries", "create", queries="a")
    assert Case.objects.get().book.scale == [[0, "Bad"], [1, "Good"]]


def test_create_on_a_book_takes_its_queries(sign_in, people, team):
    first = make_case(people["owner"], "First", texts=["a", "b"], team=team)
    client = sign_in("editor")
    at_queries(client)
    named(client, name="Second", scale_from="book", book=first.book_id)
    assert "All 2 queries" in client.get("/cases/new/queries/").content.decode()
    step(client, "queries", "create", queries="c\na")
    second = Case.objects.get(name="Second")
    assert second.book == first.book
    assert list(second.case_queries.values_list("query__text", flat=True)) == ["a", "b", "c"]


def test_create_on_a_book_needs_its_editor(sign_in, people, team):
    first = make_case(people["owner"], "First", team=team)
    assert first.book not in sign_in("rater").get("/cases/new/scale/").context["form"].fields["book"].queryset


def test_create_is_all_or_nothing(sign_in, nothing_made, monkeypatch):
    client = sign_in("editor")
    at_queries(client)

    def no(**_):
        raise ValidationError("Something is wrong with the last step.")

    monkeypatch.setattr(queries, "add", no)
    response = step(client, "queries", "create", queries="kept text")
    assert response.status_code == 422
    assert "The case was not created. Something is wrong" in response.content.decode()
    assert "kept text" in response.content.decode()
    assert Endpoint.objects.count() == 0


def test_create_after_the_endpoint_was_archived(sign_in, people, team):
    shared = make_endpoint(people["owner"], "shared")
    shared.teams.add(team)
    client = sign_in("editor")
    named(client)
    step(client, "endpoint", "skip", endpoint_id=shared.pk)
    step(client, "fields", id="id", title="title", template="q=#$query##")
    endpoints.archive(endpoint=shared)
    response = step(client, "queries", "create", queries="a")
    assert response.headers["Location"] == "/cases/new/endpoint/"
    assert Case.objects.count() == 0


def test_endpoint_whose_key_is_gone_says_so(sign_in, people, team, settings):
    shared = make_endpoint(people["owner"], "shared", credentials={"api_key": "k"})
    shared.teams.add(team)
    client = sign_in("editor")
    named(client)
    where = {"name": "down", "engine": "solr", "url": SOLR}
    step(client, "endpoint", "skip", **where, username="u", password="p")
    settings.CREDENTIALS_KEYS = ["MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="]
    again = step(client, "endpoint", **where)
    assert list(again.context["form"].errors) == ["password"]
    assert "cannot be decrypted" in step(client, "endpoint", endpoint_id=shared.pk).context["connection_test"].error


def test_get_never_changes_the_session(sign_in, people):
    """Link previews and prefetching browsers send GET requests."""
    client = sign_in("editor")
    at_queries(client)
    before = dict(client.session)["case_wizard"]
    for address in ("?engine=static", "", "scale/", "endpoint/", "fields/", "queries/", "scale/?engine=static"):
        client.get(f"/cases/new/{address}")
        assert dict(client.session)["case_wizard"] == before
    scorers.retire(scorer=scorers.create(name="mine", definition=ScorerDefinition("P@3"), by=people["editor"]))
    mine = Scorer.objects.get(name="mine")
    session = client.session
    session["case_wizard"]["entered"]["scale"]["scorer"] = str(mine.pk)
    session.save()
    before = dict(client.session)["case_wizard"]
    assert client.get("/cases/new/queries/").headers["Location"] == "/cases/new/scale/"
    assert dict(client.session)["case_wizard"] == before
    assert client.get("/cases/new/start-over/").status_code == 405


def test_start_over_discards_everything(sign_in):
    client = sign_in("editor")
    named(client, name="Kept")
    client.post("/cases/new/start-over/")
    assert "case_wizard" not in client.session


def test_scorers_that_suit_most_cases_come_first(sign_in):
    form = sign_in("editor").get("/cases/new/scale/").context["form"]
    names = [choice.scorer.name for choice in form.recommended]
    assert names[0] == "AvgEdit"
    assert set(names) == {"AvgEdit", "nDCG@10", "P@10"}
    assert len(form.recommended) + len(form.others) == Scorer.objects.count()
    assert [title for title, _ in form.fields["scorer"].choices] == ["Recommended", "All others"]


def test_a_user_without_a_team_is_told_before_the_first_step(sign_in, client):
    client.force_login(make_user(can_create_endpoints=False))
    assert 'id="no-endpoint"' in client.get("/cases/new/scale/").content.decode()
    assert 'id="no-endpoint"' not in sign_in("editor").get("/cases/new/scale/").content.decode()


def test_endpoint_of_an_uninstalled_engine_is_not_offered(sign_in, people, team):
    gone = make_endpoint(people["owner"], "gone")
    gone.teams.add(team)
    Endpoint.objects.filter(pk=gone.pk).update(engine="uninstalled")
    client = sign_in("editor")
    named(client)
    page = client.get("/cases/new/endpoint/")
    assert gone not in page.context["form"].fields["endpoint_id"].queryset
    assert list(step(client, "endpoint", endpoint_id=gone.pk).context["form"].errors) == ["endpoint_id"]


def test_scorer_made_for_one_case_is_not_accepted(sign_in, people):
    """Neither by the form, nor later if it was made for one case in between."""
    case = make_case(people["editor"], "Mine")
    definition = ScorerDefinition(measure="P@3")
    only = scorers.create_for_case(case=case, name="Ours", definition=definition, by=people["editor"])
    client = sign_in("editor")
    response = named(client, scorer=only.pk)
    assert response.status_code == 422
    assert list(response.context["form"].errors) == ["scorer"]


def test_endpoint_understands_the_address_of_a_page_of_solr(sign_in):
    client = sign_in("editor")
    named(client)
    page = "http://127.0.0.1:1/solr/#/films/query"
    response = step(client, "endpoint", "try", name="down", engine="solr", url=page)
    assert SOLR in response.context["form"].address_note
    assert 'id="address-note"' in response.content.decode()
    step(client, "endpoint", "skip", name="down", engine="solr", url=page)
    step(client, "fields", id="id", title="title", template="q=#$query##")
    step(client, "queries", "create", queries="star")
    assert Endpoint.objects.get().url == SOLR


def test_endpoint_offers_to_switch_to_the_engine_that_responds(sign_in, nothing_made):
    client = sign_in("editor")
    named(client)
    with serving(elasticsearch) as server:
        where = {"name": "films", "engine": "solr", "url": f"{server.url}/films"}
        response = step(client, "endpoint", **where)
        assert response.status_code == 422
        assert 'name="switch_to" value="elasticsearch"' in compact(response.content.decode())
        switched = client.post("/cases/new/endpoint/", {**where, "switch_to": "elasticsearch"})
        assert switched.headers["Location"] == "/cases/new/fields/"
        assert "multi_match" in client.get("/cases/new/fields/").context["form"].initial["template"]


def elasticsearch(received):
    path = received.path.partition("?")[0]
    if path == "/" or path.endswith(("_search", "_field_caps")):
        return fake_elasticsearch(received)
    return json_reply({"error": "no handler found for uri"}, 400)


@pytest.mark.parametrize("value", ["", "nothing", "static"])
def test_endpoint_switch_to_nonsense_is_refused(sign_in, nothing_made, value):
    client = sign_in("editor")
    named(client)
    data = {"name": "x", "engine": "solr", "url": SOLR, "switch_to": value}
    assert client.post("/cases/new/endpoint/", data).status_code == 422


DOCUMENTS = '{"id": "1", "title": "Red shoe", "overview": ""}\n{"id": "2", "title": "Blue shoe", "price": 5}\n'


def fill(client, documents, do="next", **data):
    fields = {"name": "own", "engine": "embedded", "url": "shoes", "text": "shoe", **data}
    return step(client, "endpoint", do, documents=uploaded(documents.encode(), "docs"), **fields)


@pytest.mark.parametrize("documents", [DOCUMENTS, "id,title,overview,price\n1,Red shoe,,\n2,Blue shoe,,5\n"])
def test_endpoint_embedded_index_is_filled_from_the_page(sign_in, people, data_dir, nothing_made, documents):
    client = sign_in("editor")
    named(client)
    response = fill(client, documents)
    assert response.headers["Location"] == "/cases/new/fields/"
    index = StoredIndex.objects.get()
    assert (index.engine, index.name, index.owner) == ("embedded", "shoes", people["editor"])
    initial = client.get("/cases/new/fields/").context["form"].initial
    # Suggested are fields that documents have: none has an overview.
    assert (initial["title"], initial["more"]) == ("title", "price")
    assert "overview" not in initial["template"]


@pytest.mark.parametrize(
    ("documents", "words"),
    [
        (DOCUMENTS + "{nonsense", "Line 3"),
        ("id,title\n1,a\n2,b,c\n", "Line 3"),
        ("id,id\n1,2\n", "Line 1"),
        ("[1]\n", "Line 1"),
        ("", "empty"),
    ],
)
def test_endpoint_documents_that_cannot_be_loaded(sign_in, data_dir, nothing_made, documents, words):
    client = sign_in("editor")
    named(client)
    response = fill(client, documents)
    assert response.status_code == 422
    assert "documents" in response.context["form"].errors
    assert words in str(response.context["form"].errors["documents"])
    assert not StoredIndex.objects.exists()  # others can use the name


def test_endpoint_documents_never_replace_an_index(sign_in, data_dir, nothing_made):
    client = sign_in("editor")
    named(client)
    fill(client, DOCUMENTS)
    response = fill(client, '{"id": "9", "title": "Other"}\n')
    assert "already an index “shoes”" in str(response.context["form"].errors["documents"])
    again = step(client, "endpoint", "try", name="own", engine="embedded", url="shoes", text="shoe")
    assert len(again.context["connection_test"].documents) == 2


def test_endpoint_documents_of_another_user_are_not_reached(sign_in, data_dir, nothing_made):
    first = sign_in("editor")
    named(first)
    fill(first, DOCUMENTS)
    client = sign_in("owner")
    named(client)
    response = fill(client, DOCUMENTS)
    assert response.status_code == 422
    assert "url" in response.context["form"].errors


def test_a_user_without_a_team_gets_one_on_the_way(sign_in, client):
    user = make_user("Nora")
    client.force_login(user)
    form = client.get("/cases/new/scale/").context["form"]
    assert ("team" in form.fields, form["new_team"].value()) == (False, "Team of Nora")
    assert named(client, new_team="Nora's team").status_code == 302
    assert not Team.objects.filter(name="Nora's team").exists()
    with_file(client)
    initial = client.get("/cases/new/fields/").context["form"].initial
    step(client, "fields", **{name: initial[name] for name in ("id", "title", "thumb", "more", "template")})
    step(client, "queries", "create", queries="star wars")
    team = Team.objects.get(name="Nora's team")
    assert list(Case.objects.get().teams.all()) == [team]
    assert team.memberships.get().role == Role.OWNER
    assert "new_team" not in client.get("/cases/new/scale/").context["form"].fields


def test_a_case_can_be_shared_with_a_team_from_the_start(sign_in, people, team):
    client = sign_in("editor")
    form = client.get("/cases/new/scale/").context["form"]
    assert ("new_team" in form.fields, form["team"].value()) == (False, None)
    named(client, team=team.pk)
    with_file(client)
    initial = client.get("/cases/new/fields/").context["form"].initial
    step(client, "fields", **{name: initial[name] for name in ("id", "title", "thumb", "more", "template")})
    step(client, "queries", "create", queries="star wars")
    assert Case.objects.visible_to(people["viewer"]).exists()


def test_a_case_is_not_shared_with_a_team_of_others_or_with_a_book_of_others(sign_in, people, team):
    client = sign_in("editor")
    other = Team.objects.get(name="Others")
    assert list(named(client, team=other.pk).context["form"].errors) == ["team"]
    book = make_case(people["owner"], team=team).book
    response = named(client, team=team.pk, scale_from="book", book=book.pk)
    assert list(response.context["form"].errors) == ["team"]


def test_a_team_whose_name_is_taken_creates_nothing(client, people, nothing_made):
    client.force_login(make_user("Nora"))
    named(client, new_team="Others")
    with_file(client)
    initial = client.get("/cases/new/fields/").context["form"].initial
    step(client, "fields", **{name: initial[name] for name in ("id", "title", "thumb", "more", "template")})
    response = step(client, "queries", "create", queries="star wars")
    assert response.status_code == 422
    assert "The case was not created." in response.content.decode()
    assert Endpoint.objects.count() == 0


def test_engines_are_radio_buttons_without_the_outline_of_a_text_field(sign_in):
    """A subclass of Django's widget was drawn as a text field, over the fields below it."""
    client = sign_in("editor")
    named(client)
    page = client.get("/cases/new/endpoint/").content.decode()
    (radios,) = re.findall(r'<div id="id_engine"[^>]*>', page)
    assert "input" not in radios
    assert 'name="engine"' in page


def test_a_case_without_an_engine_is_made_for_imported_runs(sign_in):
    client = sign_in("editor")
    named(client)
    assert step(client, "endpoint", "no-engine").headers["Location"] == "/cases/new/queries/"
    assert not client.get("/cases/new/queries/").context["has_engine"]
    answer = step(client, "queries", "create", queries="star wars\nstar trek")
    case = Case.objects.get()
    assert answer.headers["Location"] == f"/cases/{case.pk}/files/"
    assert case.case_queries.count() == 2
    assert not Attempt.objects.exists()
    assert not Run.objects.exists()
    assert not Endpoint.objects.exists()


def test_an_engine_can_be_chosen_after_all(sign_in):
    client = sign_in("editor")
    named(client)
    step(client, "endpoint", "no-engine")
    assert with_file(client).status_code == 302
    assert client.get("/cases/new/queries/").headers["Location"] == "/cases/new/fields/"


RATINGS = b"query,docid,rating\nstar wars,1,10\nstar wars,2,3\nstar trek,3,8\n"
HTMX = {"headers": {"HX-Request": "true"}}


def test_a_file_of_ratings_is_previewed_and_imported_with_the_case(sign_in, people, django_capture_on_commit_callbacks):
    client = sign_in("editor")
    at_queries(client)
    sent = {"source": "file", "file": uploaded(RATINGS, "ratings.csv")}
    page = client.post("/cases/new/queries/", {"do": "check", **sent}, **HTMX)
    assert (page.status_code, page.context["first"].ratings.given) == (200, 3)
    assert Case.objects.count() == 0
    sent = {"source": "file", "file": uploaded(RATINGS, "ratings.csv")}
    with django_capture_on_commit_callbacks(execute=True):
        response = step(client, "queries", "create", **sent)
    case = Case.objects.get()
    assert response.headers["Location"] == f"/cases/{case.pk}/"
    assert set(case.case_queries.values_list("query__text", flat=True)) == {"star wars", "star trek"}
    rated = Rating.objects.filter(query__book=case.book, rater=people["editor"])
    assert sorted(rated.values_list("doc_id", "value")) == [("1", 10), ("2", 3), ("3", 8)]
    assert CaseScore.objects.get(run__case=case).score is not None


@pytest.mark.parametrize(
    ("content", "name", "texts", "count"),
    [
        (b"laptop 0 d1 3\nphone 0 d2 1\n", "shop.qrels", ["laptop", "phone"], 2),
        (b"query,tags\nlaptop,top\nphone,\n", "queries.csv", ["laptop", "phone"], 0),
        (b"laptop\nphone\n", "queries.txt", ["laptop", "phone"], 0),
        (b'{"queries": [{"query": "laptop", "ratings": {"d1": 3}}]}', "ratings.json", ["laptop"], 1),
    ],
)
def test_files_of_each_kind_start_a_case(sign_in, content, name, texts, count):
    client = sign_in("editor")
    at_queries(client)
    response = step(client, "queries", "create", source="file", file=uploaded(content, name))
    assert response.status_code == 302
    case = Case.objects.get()
    # those of the file with rankings are searched, too
    assert list(case.case_queries.values_list("query__text", flat=True)) == ["star wars", "star trek", *texts]
    assert Rating.objects.filter(query__book=case.book).count() == count
    if name == "queries.csv":
        assert case.book.queries.get(text="laptop").tags == ["top"]


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        (b"query,docid,rating\nlaptop,d1,99\n", "ratings.csv", "not on the book"),
        (b"301 0 d1 1\n", "qrels.txt", "no query with the id or text"),
        (b"a,b,c\n1,2,x\n", "ratings.csv", "header is"),
        (b"", "ratings.csv", "empty"),
    ],
)
def test_a_file_that_is_wrong_creates_nothing_and_says_why(sign_in, nothing_made, content, name, words):
    client = sign_in("editor")
    at_queries(client)
    for do in ("check", "create"):
        response = step(client, "queries", do, source="file", file=uploaded(content, name))
        assert response.status_code == 422
        assert words in response.content.decode()


def test_no_file(sign_in, nothing_made):
    client = sign_in("editor")
    at_queries(client)
    response = step(client, "queries", "create", source="file")
    assert "Choose a file" in str(response.context["form"].errors["file"])


def test_pasted_ratings_are_recognized_and_can_be_imported_or_taken_as_queries(sign_in):
    client = sign_in("editor")
    at_queries(client)
    response = step(client, "queries", "create", queries=RATINGS.decode())
    assert (response.status_code, Case.objects.count()) == (200, 0)
    assert 'id="looks-like-file"' in response.content.decode()
    assert response.context["first"].ratings.given == 3
    client.post("/cases/new/queries/", {"format": "csv", "queries": RATINGS.decode()})
    case = Case.objects.get()
    assert case.case_queries.count() == 2
    assert Rating.objects.filter(query__book=case.book).count() == 3


def test_pasted_ratings_can_be_queries_after_all(sign_in):
    client = sign_in("editor")
    at_queries(client)
    client.post("/cases/new/queries/", {"format": "queries", "queries": "laptop,1229111,0\nphone,1,2"})
    assert list(Case.objects.get().case_queries.values_list("query__text", flat=True)) == [
        "laptop,1229111,0",
        "phone,1,2",
    ]


def test_later_creates_a_case_without_queries_and_without_a_run(sign_in):
    client = sign_in("editor")
    at_queries(client)
    response = step(client, "queries", "create", source="later")
    case = Case.objects.get()
    assert response.headers["Location"] == f"/cases/{case.pk}/"
    assert (case.case_queries.count(), case.attempts.count(), case.runs.count()) == (0, 1, 0)
    assert client.get(f"/cases/{case.pk}/").status_code == 200


def test_a_page_of_an_app_that_adds_queries_is_offered_and_opens(sign_in, monkeypatch):
    monkeypatch.setitem(hooks.query_pages, "case_files", "Elsewhere")
    client = sign_in("editor")
    at_queries(client)
    assert "Elsewhere" in client.get("/cases/new/queries/").content.decode()
    response = step(client, "queries", "create", source="case_files")
    assert response.headers["Location"] == f"/cases/{Case.objects.get().pk}/files/"


def test_ratings_come_into_an_existing_book(sign_in, people, team):
    first = make_case(people["owner"], "First", texts=["star wars"], team=team)
    client = sign_in("editor")
    at_queries(client)
    named(client, name="Second", scale_from="book", book=first.book_id)
    step(client, "queries", "create", source="file", file=uploaded(RATINGS, "ratings.csv"))
    second = Case.objects.get(name="Second")
    assert second.book == first.book
    assert Rating.objects.filter(query__book=first.book).count() == 3
    assert second.case_queries.count() == 2
