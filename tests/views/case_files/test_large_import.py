"""An import of more ratings than fit in one transaction: a worker stores them, and pages show how far it is."""

import io
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse

from relevancy import ratings, tasks
from relevancy.management import progress
from relevancy.models import Activity, Case, Rating, RatingImport, write_queue
from relevancy.ratings import imports
from tests.factories import make_case, query_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]
RATINGS = "query,docid,rating,rater\nquery 1,a,3,Ann\nnew,b,2,\nnew,c,1,\n"
REFUSAL = "Ratings are being imported into this book (0 %)."


@pytest.fixture
def sent(monkeypatch):
    """The ids of the imports that were left to a worker."""
    ids = []
    monkeypatch.setattr(imports, "MAX_AT_ONCE", 2)
    monkeypatch.setattr(imports, "CHUNK", 1)
    monkeypatch.setattr(write_queue, "PAUSE_SECONDS", 0)
    monkeypatch.setattr(
        tasks, "send", lambda task, pk, **options: ids.append(pk) if task is tasks.import_ratings else None
    )
    return ids


@pytest.fixture
def case(client):
    case = make_case(["query 1"], {"query 1": {"a": 0}})
    client.force_login(case.owner)
    return case


def send(client, case, content=RATINGS, do="import"):
    file = SimpleUploadedFile("ratings.csv", content.encode())
    return client.post(reverse("ratings_import", args=[case.pk]), {"do": do, "file": file}, follow=True)


def shown(client, case, page="book_rating_import"):
    pk = case.pk if page == "case_files" else case.book_id
    return client.get(reverse(page, args=[pk])).content.decode()


def test_page_shows_the_import_until_the_worker_has_finished_it(client, case, sent):
    assert "rating-import" not in shown(client, case, "book")
    assert "3 ratings are being imported" in send(client, case).content.decode()
    record = RatingImport.objects.get(pk=sent[0])
    assert imports.import_file(record).read_text() == RATINGS
    for page in ("case_files", "book", "book_rating_import"):
        html = shown(client, case, page)
        assert 'data-status="waiting"' in html
        assert 'hx-trigger="every 2s"' in html
        assert "<progress" in html
    assert Rating.objects.count() == 1
    tasks.import_ratings.func(record.pk)
    tasks.import_ratings.func(record.pk)  # a task may be delivered twice
    assert Rating.objects.count() == 4
    html = shown(client, case)
    assert "3 of 3 ratings are new or changed." in " ".join(html.split())
    assert "hx-trigger" not in html
    assert not imports.import_file(record).exists()
    assert [str(row) for row in case.case_queries.present()] == ["query 1", "new"]


def test_nobody_rates_in_the_closed_book(client, case, sent):
    send(client, case)
    case_query = case.case_queries.get()
    url = reverse("rate", args=[case.pk, case_query.pk])
    for headers in ({}, {"HX-Request": "true"}):
        answer = client.post(url, {"doc_id": "a", "value": "2"}, headers=headers, follow=True)
        assert REFUSAL in answer.content.decode()
    assert Rating.objects.get().value == 0
    again = send(client, case)
    assert (again.status_code, len(sent)) == (422, 1)
    assert f"{REFUSAL} Import the file again when the import has ended." in again.content.decode()
    with pytest.raises(ratings.RatingRefused):
        ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=2, by=case.owner)


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_pages_without_a_sentence_of_their_own_say_why_ratings_stay(client, case, sent, headers):
    ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=2, by=case.owner)
    send(client, case)
    for name, pk in (("rating_undo", case.pk), ("judge_undo", case.book_id)):
        answer = client.post(reverse(name, args=[pk]), headers=headers, follow=True)
        assert answer.status_code == (409 if headers else 200)
        assert f"{REFUSAL} Rate again when the import has ended." in answer.content.decode()
    assert list(Rating.objects.values_list("value", flat=True)) == [2]


@pytest.mark.parametrize(
    ("break_it", "error"),
    [
        (lambda record: imports.import_file(record).unlink(), "The file of the import was lost."),
        (lambda record: imports.import_file(record).write_text("query,docid,rating\nquery 1,a,9\n"), "not on the book"),
        (lambda record: Case.objects.get(pk=record.case_id).delete(), "The case was deleted"),
    ],
)
def test_page_says_why_an_import_has_failed(client, case, sent, break_it, error):
    other = make_case(["query 1"], owner=case.owner, book_of=case)
    send(client, case)
    record = RatingImport.objects.get()
    break_it(record)
    tasks.import_ratings.func(record.pk)
    html = shown(client, other)
    assert "Nothing was imported." in html
    assert error in html
    assert list(Rating.objects.values_list("value", flat=True)) == [0]
    assert not imports.import_file(record).exists()
    assert ratings.rate(query=query_of(other, "query 1"), doc_id="a", value=2, by=case.owner) == 1


def test_command_imports_itself_and_shows_progress(case, sent, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0)
    path = tmp_path / "ratings.csv"
    path.write_text(RATINGS)
    out, err = io.StringIO(), io.StringIO()
    call_command("import_ratings", str(case.pk), str(path), stdout=out, stderr=err)
    assert out.getvalue() == "3 ratings read as ratings as CSV: 3 new or changed. 1 query added.\n"
    assert err.getvalue().splitlines() == ["1 of 3 steps", "2 of 3 steps", "3 of 3 steps"]
    assert sent == []
    RatingImport.objects.update(status="running")
    err.truncate(0)
    with pytest.raises(Exception, match=r"Ratings are being imported into this book \(100 %\)\."):
        call_command("import_ratings", str(case.pk), str(path), stdout=out, stderr=err)


@pytest.fixture
def short_lists(monkeypatch, sent):
    """The ids of the imports that were left to a worker; more than three queries are too many for one transaction."""
    for module in ("relevancy.queries", "relevancy.queries.pasting", "relevancy.formats.ratings.ratings_import"):
        monkeypatch.setattr(f"{module}.MAX_QUERIES", 3)
    monkeypatch.setattr(imports, "QUERIES_CHUNK", 2)
    return sent


LIST = "query 1\nb\n\nc\nb\nd\ne\n"


def send_list(client, case, content=LIST, do="import"):
    file = SimpleUploadedFile("queries.txt", content.encode())
    return client.post(reverse("queries_import", args=[case.pk]), {"do": do, "file": file}, follow=True)


def texts(case):
    return [str(row) for row in case.case_queries.present().order_by("position")]


def test_a_long_list_of_queries_is_added_by_a_worker_in_parts(client, case, short_lists, monkeypatch):
    assert 'id="long-list"' in send_list(client, case, do="preview").content.decode()
    assert not RatingImport.objects.exists()
    assert "6 lines are being imported" in send_list(client, case).content.decode()
    record = RatingImport.objects.get(pk=short_lists[0])
    assert (record.total, record.queries, record.done, record.percent) == (0, 5, 0, 0)
    noted = []
    note = imports.note_progress
    monkeypatch.setattr(
        imports, "note_progress", lambda record, **changes: (noted.append(record.done), note(record, **changes))
    )
    tasks.import_ratings.func(record.pk)
    assert noted[:-1] == [2, 4, 5, 7, 9, 10]
    record.refresh_from_db()
    assert (record.status, record.done, record.percent) == ("complete", 10, 100)
    assert texts(case) == ["query 1", "b", "c", "d", "e"]
    assert "5 queries of a list are in the case." in " ".join(shown(client, case).split())
    added = Activity.objects.filter(case=case, verb=Activity.Verb.QUERIES_ADDED).order_by("-pk")
    assert added[0].details["count"] == 4


def test_a_line_that_cannot_be_a_query_refuses_a_long_list(client, case, short_lists):
    page = send_list(client, case, LIST + "x" * 3000 + "\n")
    assert page.status_code == 422
    assert "Line 8" in page.content.decode()
    assert texts(case) == ["query 1"]
    assert not RatingImport.objects.exists()


def test_a_long_list_that_is_killed_while_queries_are_created_leaves_nothing(client, case, short_lists, monkeypatch):
    send_list(client, case)
    monkeypatch.setattr(imports, "_add_in_parts", lambda record, ids, report: (_ for _ in ()).throw(SystemExit))
    with pytest.raises(SystemExit):
        tasks.import_ratings.func(short_lists[0])
    assert RatingImport.objects.get().status == "failed"
    assert texts(case) == ["query 1"]
    assert case.book.queries.count() == 1


def test_commands_import_many_queries_in_parts(case, short_lists, tmp_path, capsys):
    path = tmp_path / "queries.txt"
    path.write_text(LIST)
    call_command("import_queries", str(case.pk), str(path), "--dry-run")
    assert "5 queries in 6 lines" in capsys.readouterr().out
    assert texts(case) == ["query 1"]
    call_command("import_queries", str(case.pk), str(path))
    assert "4 queries added" in capsys.readouterr().out
    assert texts(case) == ["query 1", "b", "c", "d", "e"]
    path = tmp_path / "ratings.csv"
    path.write_text("query,docid,rating\n" + "".join(f"new {number},a,1\n" for number in range(5)))
    call_command("import_ratings", str(case.pk), str(path))
    assert "5 queries added" in capsys.readouterr().out
    assert texts(case)[5:] == [f"new {number}" for number in range(5)]
    assert Rating.objects.filter(query__text__startswith="new").count() == 5
