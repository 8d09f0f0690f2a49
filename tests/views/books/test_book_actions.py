"""Renaming and deleting a book."""

import pytest
from django.urls import reverse

from relevancy import cases
from relevancy.models import Book
from tests.factories import make_case

pytestmark = pytest.mark.django_db


@pytest.fixture
def case(people, team):
    case = make_case(["query 1"], {"query 1": {"a": 1}}, owner=people["owner"])
    cases.share(case=case, team=team)
    return case


def at(book, action):
    return reverse(f"book_{action}", args=[book.pk])


def test_menu_has_what_the_role_allows(sign_in, case):
    page = reverse("book", args=[case.book_id])
    shown = {role: sign_in(role).get(page).content.decode() for role in ("rater", "editor", "owner")}
    assert [at(case.book, "rename") in html for html in shown.values()] == [False, True, True]
    assert [at(case.book, "delete") in html for html in shown.values()] == [False, False, True]


def test_rename(sign_in, case):
    client = sign_in("editor")
    assert client.post(at(case.book, "rename"), {"name": ""}).status_code == 422
    assert client.post(at(case.book, "rename"), {"name": "Films"}).url == reverse("book", args=[case.book_id])
    assert Book.objects.get().name == "Films"


def test_a_book_that_cases_use_is_kept(sign_in, people, case):
    hidden = make_case(0, owner=people["stranger"], book_of=case)
    client = sign_in("owner")
    page = client.get(at(case.book, "delete"))
    assert (page.context["cases"], page.context["hidden_cases"]) == ([case], 1)
    assert hidden.name not in page.content.decode()
    assert client.post(at(case.book, "delete")).status_code == 422
    assert Book.objects.exists()


def test_delete(sign_in, case):
    cases.delete(case=case, by=case.owner)
    client = sign_in("owner")
    assert client.get(at(case.book, "delete")).context["losses"]["ratings"] == 1
    assert Book.objects.exists()
    assert client.post(at(case.book, "delete")).url == reverse("books")
    assert not Book.objects.exists()
