"""Tests of the page that makes a book of a file."""

import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from relevancy.models import Book, Rating
from tests.formats import relevancy_files
from tests.formats.relevancy_files import BOOK, as_file, zipped

URL = "/books/import/"


def send(client, content, do="preview", **headers):
    return client.post(URL, {"do": do, "file": SimpleUploadedFile("book.json", content)}, headers=headers)


@pytest.mark.parametrize("make", [as_file, zipped])
def test_preview_and_import(sign_in, people, make):
    client = sign_in("rater")
    assert URL in client.get("/books/").content.decode()
    assert client.get(URL).status_code == 200
    content = make(BOOK).getvalue()
    page = send(client, content)
    assert page.status_code == 200
    assert page.context["content"].ratings.count == 3
    assert 'data-count="raters"' in page.content.decode()
    assert not Book.objects.exists()
    assert "<html" not in send(client, content, **{"HX-Request": "true"}).content.decode()
    answer = send(client, content, do="import")
    book = Book.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/books/{book.pk}/")
    assert (book.owner, Rating.objects.count()) == (people["rater"], 3)
    assert client.get(answer["Location"]).status_code == 200


@pytest.mark.parametrize("content", [b"{", b"PK\x03\x04xx", b"\xff", zipped(BOOK, ("../x.json",)).getvalue()])
@pytest.mark.parametrize("do", ["preview", "import"])
@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_bad_files_are_refused_with_a_message(sign_in, content, do, headers):
    page = send(sign_in("rater"), content, do, **headers)
    assert page.status_code == 422
    assert page.context["file_form"].errors["file"]
    assert not Book.objects.exists()


def test_a_missing_file(sign_in):
    assert sign_in("rater").post(URL, {"do": "preview", "file": io.BytesIO(b"")}).status_code == 422


def test_a_large_book_is_left_to_the_command(sign_in, monkeypatch):
    monkeypatch.setattr("relevancy.formats.cases.case_content.MAX_OF_BOOK_ON_PAGE", 2)
    page = send(sign_in("rater"), as_file(BOOK).getvalue(), do="import")
    assert page.status_code == 422
    assert "3 ratings; a page imports at most 2" in page.context["file_form"].errors["file"][0]
    assert not Book.objects.exists()


def test_a_book_of_our_own_is_imported_and_downloaded(sign_in):
    client = sign_in("rater")
    content = json.dumps(relevancy_files.BOOK).encode()
    assert send(client, content).context["content"].ratings.count == 3
    assert send(client, content, do="import").status_code == 302
    book = Book.objects.get()
    answer = client.get(f"/books/{book.pk}/book.json")
    exported = json.loads(b"".join(answer.streaming_content))
    assert [row["document"] for row in exported["ratings"]] == ["a", "a", "b"]
    assert (exported["book"]["rule"], exported["kind"]) == ("mean", "book")
