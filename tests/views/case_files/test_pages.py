"""Tests of importing and exporting the files of a case on its page."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from relevancy import ratings, runs
from relevancy.models import Case, CaseQuery, Rating
from tests.views.factories import make_case, make_run

HEADER = "query,docid,rating\n"


@pytest.fixture
def case(people, team):
    case = make_case(people["admin"], team=team)
    query = case.book.queries.get(text="star wars")
    ratings.rate(query=query, doc_id="1", value=3, by=people["editor"])
    ratings.rate(query=query, doc_id="2", value=5, by=people["editor"])
    return case


def send(client, case, content, what="ratings", do="preview", **headers):
    content = content if isinstance(content, bytes) else content.encode()
    data = {"do": do, "file": SimpleUploadedFile("file.csv", content)}
    return client.post(f"/cases/{case.pk}/files/import-{what}/", data, headers=headers)


def counts(preview):
    return preview.added, preview.changed, preview.unchanged, preview.unrated, preview.new_queries


def test_preview_of_ratings_counts_and_writes_nothing(sign_in, case):
    text = HEADER + "star wars,1,3\nstar wars,2,6\nstar wars,3,7\nstar trek,,\nalien,9,1\n"
    before = list(Rating.objects.values_list("doc_id", "value", "updated_at"))
    page = send(sign_in("editor"), case, text)
    assert page.status_code == 200
    assert counts(page.context["preview"]) == (2, 1, 1, 1, 1)
    assert 'data-count="changed"' in page.content.decode()
    assert list(Rating.objects.values_list("doc_id", "value", "updated_at")) == before
    assert CaseQuery.objects.filter(case=case).count() == 2


def test_preview_compares_with_ones_own_ratings(sign_in, case):
    page = send(sign_in("owner"), case, HEADER + "star wars,1,3\n")
    assert counts(page.context["preview"]) == (1, 0, 0, 0, 0)


def test_preview_is_a_fragment_for_htmx(sign_in, case):
    answer = send(sign_in("editor"), case, HEADER + "star wars,1,4\n", **{"HX-Request": "true"}).content.decode()
    assert "<html" not in answer
    assert 'form="ratings-preview-form"' in answer


def test_preview_does_what_the_import_does(sign_in, case):
    client = sign_in("editor")
    text = HEADER + "star wars,1,9\nalien,2,4\nstar trek,,\n"
    preview = send(client, case, text).context["preview"]
    page = send(client, case, text, do="import")
    assert page.status_code == 302
    assert counts(preview) == (1, 1, 0, 1, 1)
    values = Rating.objects.filter(query__book=case.book, rater__name="Editor").values_list("query__text", "value")
    assert set(values) == {("star wars", 9.0), ("star wars", 5.0), ("alien", 4.0)}
    assert case.case_queries.present().count() == 3
    assert counts(send(client, case, text).context["preview"]) == (0, 0, 2, 1, 0)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (HEADER + "star wars,1,99\nstar wars,2,4\nstar wars,3,x\nstar wars,,4\n", [2, 4, 5]),
        (HEADER + 'star wars,1,4\n"star\nwars",2,4\nstar wars,3,x\n', [5]),
        (HEADER + "star wars,1,4,5\nstar wars,2\nstar wars,3,5\n", [2, 3]),
        (HEADER + "star wars,1,4\nstar wars,1,5\n", [3]),
        ("a,b\n1,2\n", [1]),
    ],
)
def test_preview_lists_errors_by_line(sign_in, case, text, lines):
    page = send(sign_in("editor"), case, text)
    assert [line for line, _ in page.context["preview"].errors] == lines
    assert f'data-line="{lines[0]}"' in page.content.decode()


def test_preview_lists_at_most_20_errors(sign_in, case):
    page = send(sign_in("editor"), case, HEADER + "star wars,1,x\n" * 100)
    assert [line for line, _ in page.context["preview"].errors] == list(range(2, 22))


def test_import_of_a_wrong_file_stores_nothing(sign_in, case):
    before = Rating.objects.count()
    page = send(sign_in("editor"), case, HEADER + "star wars,7,4\nstar wars,8,99\n", do="import")
    assert page.status_code == 422
    assert "Line 3" in page.content.decode()
    assert Rating.objects.count() == before


@pytest.mark.parametrize("what", ["ratings", "queries"])
@pytest.mark.parametrize("htmx", [{}, {"HX-Request": "true"}])
def test_import_without_a_file_or_of_bytes_that_are_no_text(sign_in, case, what, htmx):
    client = sign_in("editor")
    assert send(client, case, b"\xff\xfe\x00", what, **htmx).status_code == 422
    assert client.post(f"/cases/{case.pk}/files/import-{what}/", {"do": "import"}, headers=htmx).status_code == 422


@pytest.mark.parametrize(
    ("text", "added", "present", "repeated", "rejected"),
    [
        ("alien\r\nstar wars\r\nalien\r\n\r\n", 1, 1, 1, 0),
        ("﻿id,Query\n1,alien\n2,star wars\n3\n", 1, 1, 0, 0),
        ("alien\n" + "x" * 2049 + "\n", 1, 0, 0, 1),
    ],
)
def test_queries_preview_and_import(sign_in, case, text, added, present, repeated, rejected):
    client = sign_in("editor")
    result = send(client, case, text, "queries").context["queries_preview"]
    assert (result.added, result.unchanged, result.repeated, result.rejected) == (added, present, repeated, rejected)
    assert case.case_queries.count() == 2
    assert send(client, case, text, "queries", do="import").status_code == 302
    assert case.case_queries.count() == 2 + added


def test_details_of_queries_are_previewed_and_imported(sign_in, case):
    client, text = sign_in("editor"), "query,notes,weight\nstar wars,Both,2\nalien,,3\nstar trek,,\n"
    page = send(client, case, text, "queries", **{"HX-Request": "true"})
    assert [page.content.decode().count(f'data-count="{name}"') for name in ("added", "changed", "present")] == [1] * 3
    result = page.context["queries_preview"]
    assert (result.added, result.changed, result.unchanged) == (1, 1, 1)
    assert set(case.case_queries.values_list("weight", flat=True)) == {1}
    assert "other cases" not in page.content.decode()
    Case.objects.create(name="Other", owner=case.owner, book=case.book)
    assert "other cases" in send(client, case, text, "queries").content.decode()
    assert send(client, case, text, "queries", do="import").status_code == 302
    weights = dict(case.case_queries.values_list("query__text", "weight"))
    assert weights == {"star wars": 2, "star trek": 1, "alien": 3}
    assert case.book.queries.get(text="star wars").notes == "Both"


@pytest.mark.parametrize("htmx", [{}, {"HX-Request": "true"}])
def test_wrong_cells_of_queries_are_listed_by_line(sign_in, case, htmx):
    text = "query,weight\nstar wars,2\nalien,x\nnew,-1\n"
    page = send(sign_in("editor"), case, text, "queries", **htmx)
    assert [line for line, _ in page.context["queries_preview"].lines] == [3, 4]
    assert 'data-line="3"' in page.content.decode()
    page = send(sign_in("editor"), case, text, "queries", do="import", **htmx)
    assert page.status_code == 422
    assert "Line 3: Column weight" in page.content.decode()
    assert case.case_queries.count() == 2


def test_queries_csv_that_cannot_be_read(sign_in, case):
    page = send(sign_in("editor"), case, 'query\n"alien', "queries")
    assert page.status_code == 422
    assert "Line 2" in page.content.decode()


@pytest.mark.parametrize(("who", "forms"), [("viewer", 0), ("rater", 0), ("editor", 3), ("owner", 3)])
def test_page_offers_imports_to_editors_only(sign_in, case, who, forms):
    page = sign_in(who).get(f"/cases/{case.pk}/files/").content.decode()
    assert page.count('type="file"') == forms
    # And “Sign out”, the templates of toasts, and “Archive” in the menu of the owner.
    assert page.count('name="csrfmiddlewaretoken"') == forms + 3 + (who == "owner")
    assert f"/cases/{case.pk}/files/case/" in page


def test_exported_ratings_can_be_imported_again(sign_in, case):
    client = sign_in("editor")
    answer = client.get(f"/cases/{case.pk}/files/ratings/")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="movies-ratings.csv"'
    content = b"".join(answer.streaming_content)
    assert content.decode() == HEADER + "star wars,1,3\nstar wars,2,5\nstar trek,,\n"
    assert counts(send(client, case, content).context["preview"]) == (0, 0, 2, 1, 0)


def test_run_files_need_a_run(sign_in, case):
    client = sign_in("viewer")
    assert "files/runs/" not in client.get(f"/cases/{case.pk}/files/").content.decode()
    address = f"/cases/{case.pk}/files/runs/1/"
    assert client.get(f"{address}csv/").status_code == 404
    make_run(case)
    assert f"{address}trec/" in client.get(f"/cases/{case.pk}/files/").content.decode()
    for name, content_type in (("csv", "text/csv"), ("trec", "text/plain")):
        answer = client.get(f"{address}{name}/")
        assert answer.headers["Content-Type"] == f"{content_type}; charset=utf-8"
        assert (name == "csv") == b"".join(answer.streaming_content).startswith(b"Snapshot Name,")


def test_whole_case_has_no_address_and_no_credentials(sign_in, case):
    run = make_run(case)
    runs.pin(run=run)
    endpoint = case.attempts.get().endpoint
    endpoint.credentials = {"username": "u", "password": "secret-word"}
    endpoint.save()
    answer = sign_in("viewer").get(f"/cases/{case.pk}/files/case/")
    text = b"".join(answer.streaming_content).decode()
    assert answer["Content-Type"] == "application/json"
    assert "secret-word" not in text and endpoint.url not in text
    content = json.loads(text)
    assert (content["ratings"][0]["document"], content["ratings"][0]["rating"]) == ("1", 3)
    assert [row["number"] for row in content["runs"]] == [run.number]


def test_page_needs_few_statements(sign_in, case):
    client = sign_in("editor")
    with CaptureQueriesContext(connection) as captured:
        client.get(f"/cases/{case.pk}/files/")
    assert len(captured) <= 5


def test_an_import_with_new_queries_leads_to_their_search(sign_in, case):
    client = sign_in("editor")
    run = make_run(case)
    response = send(client, case, HEADER + "star wars,1,9\nalien,2,4\naliens,2,4\n", do="import")
    page = client.get(response.headers["Location"]).content.decode()
    assert "Search the 4 new queries" in page
    form = page.split('data-notice="unsearched"')[1]
    assert f'action="/cases/{case.pk}/runs/{run.number}/complete/"' in form
    assert "button-primary" in form.split("</form>")[0]


def test_pasted_text_is_imported_like_a_file(sign_in, case):
    data = {"do": "import", "queries": HEADER + "alien,9,1\n", "format": "csv"}
    assert sign_in("editor").post(f"/cases/{case.pk}/files/import-ratings/", data).status_code == 302
    assert Rating.objects.filter(doc_id="9").exists()
