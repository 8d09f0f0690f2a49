"""Files by the API: the same services, previews and refusals as on the pages."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings

from relevancy import cases, ratings, tasks
from relevancy.formats import exports
from relevancy.models import Book, Case, Rating, RatingChange, Role, Run
from tests.factories import make_attempt, make_case, make_endpoint, make_team, make_user, run_now
from tests.formats import relevancy_files

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
CASE_FILE = json.dumps(relevancy_files.CASE)
RATINGS = "query,docid,rating\nstar wars,1,3\nstar wars,2,0\nalien,,\n"


@pytest.fixture
def case():
    return make_case(["star wars"], {"star wars": {"1": 3}})


def refused(response, status=422):
    assert (response.status_code, response.headers["Content-Type"]) == (status, "application/problem+json")
    return response.json()


def test_ratings_are_previewed_and_imported(api, case):
    client = api(case.owner)
    counts = {
        "format": "ratings as CSV",
        "is_stored": False,
        "raters": [],
        "added": 1,
        "changed": 0,
        "unchanged": 1,
        "unrated": 1,
        "new_queries": 1,
        "errors": [],
    }
    address = f"/cases/{case.pk}/import/ratings"
    assert client.upload(f"{address}?dry_run=true", RATINGS).json() == counts
    assert Rating.objects.count() == 1
    assert client.upload(address, RATINGS).json() == counts | {"is_stored": True}
    assert Rating.objects.count() == 2
    assert client.download(f"/cases/{case.pk}/export/ratings").decode() == RATINGS


def test_a_preview_lists_what_is_wrong_and_the_import_refuses_it(api, case):
    client = api(case.owner)
    address, text = f"/cases/{case.pk}/import/ratings", RATINGS + "star wars,3,9\nstar wars,4,x\n"
    preview = client.upload(f"{address}?dry_run=true", text).json()
    assert [error["line"] for error in preview["errors"]] == [5, 6]
    problem = refused(client.upload(address, text))
    assert problem["detail"].startswith("Line 5: ")
    assert problem["errors"][0]["field"] == "file"
    assert Rating.objects.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("deletes_book", [False, True])
def test_a_case_that_is_deleted_during_an_import_of_ratings_is_not_found(api, case, monkeypatch, deletes_book):
    """On the page and by the API, until the only transaction begins."""
    original = ratings.import_ratings

    def delete_first(*arguments, **options):
        if Case.objects.filter(pk=target.pk).exists():
            cases.delete(case=Case.objects.get(pk=target.pk), by=target.owner, with_book=deletes_book)
        return original(*arguments, **options)

    monkeypatch.setattr(ratings, "import_ratings", delete_first)
    target = case
    assert api(case.owner).upload(f"/cases/{case.pk}/import/ratings", RATINGS).status_code == 404
    target = make_case(["star wars"], {"star wars": {"1": 3}})
    browser = Client()
    browser.force_login(target.owner)
    file = SimpleUploadedFile("ratings.csv", RATINGS.encode())
    answer = browser.post(f"/cases/{target.pk}/files/import-ratings/", {"do": "import", "format": "", "file": file})
    assert answer.status_code == 404
    assert Rating.objects.count() == (0 if deletes_book else 2)


def test_a_large_import_is_left_to_a_worker(api, case, monkeypatch):
    monkeypatch.setattr(ratings.imports, "MAX_AT_ONCE", 1)
    sent = []
    monkeypatch.setattr(tasks, "send", lambda task, pk, **options: sent.append(pk))
    client, address = api(case.owner), f"/books/{case.book_id}/rating-import"
    assert client.get(address) is None
    answer = client.upload(f"/cases/{case.pk}/import/ratings", RATINGS).json()
    assert (answer["is_stored"], answer["added"]) == (False, 1)
    state = client.get(address)
    assert [state[name] for name in ("id", "status", "done", "total")] == [*sent, "waiting", 0, 2]
    problem = refused(client.send("PUT", f"/queries/{case.book.queries.first().pk}/ratings/1", {"value": 1}))
    assert problem["detail"].startswith("Ratings are being imported into this book (0 %)")
    assert refused(client.upload(f"/cases/{case.pk}/import/ratings", RATINGS))["detail"] == (
        "Ratings are being imported into this book (0 %). Import the file again when the import has ended."
    )
    tasks.import_ratings.func(sent[0])
    state = client.get(address)
    assert [state[name] for name in ("status", "done", "changed", "error")] == ["complete", 2, 1, ""]
    assert Rating.objects.count() == 2


def test_the_log_of_ratings_says_who_imported_them_in_whose_name(api, case):
    """An editor may import what others have rated; it is never logged as theirs."""
    colleague, editor = make_user(), make_user()
    team = make_team(case.owner)
    for user in (colleague, editor):
        team.memberships.create(user=user, role=Role.EDITOR)
    case.teams.add(team)
    case.book.teams.add(team)
    text = f"query,docid,rating,rater\nstar wars,1,2,{colleague.email}\n"
    assert api(editor).upload(f"/cases/{case.pk}/import/ratings", text).status_code == 200
    assert Rating.objects.get(rater=colleague).value == 2
    change = RatingChange.objects.get(rater=colleague)
    assert (change.by, change.source) == (editor, "import")


def test_queries_are_previewed_and_imported(api, case):
    client, address = api(case.owner), f"/cases/{case.pk}/import/queries"
    text = "alien\nstar wars\nalien\n" + "x" * 2049 + "\n"
    for query in ("?dry_run=true", ""):
        answer = client.upload(address + query, text).json()
        assert [answer[name] for name in ("added", "present", "repeated")] == [1, 1, 1]
        assert [error["line"] for error in answer["rejected"]] == [4]
        assert case.case_queries.present().count() == (1 if query else 2)


def test_details_of_queries_are_imported_and_exported(api, case):
    client, address = api(case.owner), f"/cases/{case.pk}/import/queries"
    text = "query,information_need,notes,tags,options,weight\nstar wars,,,scifi,,2\nalien,The film,,,,1\n"
    for query in ("?dry_run=true", ""):
        answer = client.upload(address + query, text).json()
        assert [answer[name] for name in ("format", "added", "changed", "present")] == ["queries as CSV", 1, 1, 0]
    assert client.download(f"/cases/{case.pk}/export/queries").decode() == text
    needs = client.download(f"/cases/{case.pk}/export/information-needs").decode()
    assert needs == "query,information_need\nstar wars,\nalien,The film\n"
    wrong = text + "new,,,,,x\n"
    assert client.upload(f"{address}?dry_run=true", wrong).json()["errors"][0]["line"] == 4
    assert refused(client.upload(address, wrong))["detail"].startswith("Line 4: Column weight")
    assert case.case_queries.count() == 2


def test_runs_are_imported_and_exported(api, case):
    client = api(case.owner)
    text = "Snapshot Name,Query Text,Doc ID,Doc Position\nmay,star wars,2,1\nmay,star wars,1,2\njune,star wars,1,1\n"
    address = f"/cases/{case.pk}/import/runs?name=old"
    preview = client.upload(f"{address}&dry_run=true", text)
    assert (preview.status_code, preview.json()["names"]) == (200, ["old: may", "old: june"])
    assert not Run.objects.exists()
    assert "ratings as CSV" in refused(client.upload(address, RATINGS))["detail"]
    answer = client.upload(address, text)
    assert answer.status_code == 201
    assert answer.json()["names"] == preview.json()["names"]
    may, june = answer.json()["runs"]
    assert [run.name for run in Run.objects.order_by("number")] == ["old: may", "old: june"]
    assert client.download(f"/runs/{may['id']}/export/trec").decode().count("\n") == 2
    assert "star wars,1,1" in client.download(f"/runs/{june['id']}/export/csv").decode()


def test_a_large_file_is_left_to_a_worker(api, case, monkeypatch, data_dir):
    client, address = api(case.owner), f"/cases/{case.pk}/export/ratings"
    client.upload(f"/cases/{case.pk}/import/ratings", RATINGS)
    small = client.download(address)
    monkeypatch.setattr(exports, "MAX_ROWS", 0)
    sent = []
    monkeypatch.setattr(tasks, "send", lambda task, pk, **options: sent.append(pk))
    answer = client.send("GET", address)
    assert answer.status_code == 202
    state = answer.json()
    assert [state[name] for name in ("id", "name", "status", "done", "error")] == [sent[0], "ratings", "waiting", 0, ""]
    state_address, file_address = (state[name].removeprefix("/api/v1") for name in ("state", "file"))
    assert client.send("GET", address).json() == client.get(state_address) == state  # asking twice does not make two
    assert client.send("GET", file_address).status_code == 404
    tasks.make_export.func(sent[0])
    assert client.get(state_address)["status"] == "complete"
    assert client.download(file_address) == small
    again = client.send("GET", address)  # a script gets what there is now, not the file of yesterday
    assert (again.status_code, again.json()["status"], sent) == (202, "waiting", [state["id"]] * 2)
    other = make_user(superuser=True)
    assert api(other).send("GET", state_address).status_code == 404
    assert api(other).send("GET", file_address).status_code == 404


def test_a_large_file_that_fails_says_why(api, case, monkeypatch, data_dir):
    monkeypatch.setattr(exports, "MAX_ROWS", -1)
    monkeypatch.setattr(tasks, "send", lambda *_, **__: None)
    client = api(case.owner)
    state = client.send("GET", f"/books/{case.book_id}/export/book").json()
    (data_dir / "exports").write_text("a file where the folder should be")
    tasks.make_export.func(state["id"])
    failed = client.get(state["state"].removeprefix("/api/v1"))
    assert failed["status"] == "failed"
    assert failed["error"].startswith("The file could not be written")


def test_a_case_is_imported_and_exported_again(api):
    owner = make_user()
    client, endpoint = api(owner), make_endpoint(owner)
    address = f"/import/cases?endpoint_id={endpoint.pk}"
    preview = client.upload(f"{address}&dry_run=true", CASE_FILE)
    assert (preview.status_code, preview.json()["id"], Case.objects.count()) == (200, None, 0)
    answer = client.upload(address, CASE_FILE)
    assert answer.status_code == 201
    assert {**preview.json(), "id": answer.json()["id"]} == answer.json()
    case = Case.objects.get(pk=answer.json()["id"])
    assert case.attempts.get().endpoint == endpoint
    first = client.download(f"/cases/{case.pk}/export/case")
    again = client.upload(address, first).json()["id"]
    assert client.download(f"/cases/{again}/export/case") == first


def test_a_book_is_imported_and_exported(api):
    client = api(make_user())
    content = json.dumps(relevancy_files.BOOK)
    assert client.upload("/import/books?dry_run=true", content).json()["ratings"] == 3
    assert not Book.objects.exists()
    answer = client.upload("/import/books?name=Other", content)
    assert (answer.status_code, answer.json()["name"]) == (201, "Other")
    address = f"/books/{answer.json()['id']}/export"
    assert json.loads(client.download(f"{address}/book"))["kind"] == "book"
    assert client.download(f"{address}/ratings").startswith(b"query,docid,grade,")


@pytest.mark.parametrize("kind", ["cases", "books"])
@pytest.mark.parametrize("content", ["", "{}", "[]", '{"format": "relevancy/2"}', "PK\x03\x04", '{"case_name": 1'])
def test_a_bad_file_is_a_problem_and_changes_nothing(api, kind, content):
    problem = refused(api(make_user()).upload(f"/import/{kind}", content))
    assert problem["errors"][0]["field"] == "file"
    assert not Case.objects.exists()
    assert not Book.objects.exists()


def test_a_request_without_a_file_is_a_problem(api, case):
    assert refused(api(case.owner).send("POST", "/import/cases"))["errors"][0]["field"] == "file"


def test_an_endpoint_of_others_is_not_used(api):
    endpoint = make_endpoint(make_user())
    answer = api(make_user()).upload(f"/import/cases?endpoint_id={endpoint.pk}", CASE_FILE)
    assert refused(answer)["errors"][0]["field"] == "endpoint_id"
    assert not Case.objects.exists()


@override_settings(MAX_REQUEST_SIZE=1000, DATA_UPLOAD_MAX_MEMORY_SIZE=500)
def test_a_file_may_be_larger_than_other_bodies_up_to_the_limit_of_the_server(api, case):
    client, address = api(case.owner), f"/cases/{case.pk}/import/ratings"
    assert client.upload(address, RATINGS + "alien,,\n" * 60).status_code == 200
    refused(client.upload(address, RATINGS + "alien,,\n" * 200), 413)


def test_a_file_has_an_etag(api, case):
    client, address = api(case.owner), f"/cases/{case.pk}/export/ratings"
    first = client.send("GET", address)
    b"".join(first.streaming_content)
    assert client.send("GET", address, **{"If-None-Match": first.headers["ETag"]}).status_code == 304
    client.upload(f"/cases/{case.pk}/import/ratings", RATINGS)
    newer = client.send("GET", address, **{"If-None-Match": first.headers["ETag"]})
    assert b"".join(newer.streaming_content).decode() == RATINGS


def test_a_file_that_a_run_does_not_have(api, case):
    run = run_now(make_attempt(case))
    assert api(case.owner).send("GET", f"/runs/{run.pk}/export/nothing").status_code == 422
    assert Client().get(f"/api/v1/runs/{run.pk}/export/csv").status_code == 401
