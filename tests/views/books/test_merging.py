"""The page that merges books."""

import pytest
from django.urls import reverse

from relevancy.models import Book
from tests.views.workbench.example_cases import make_workbench_case

pytestmark = pytest.mark.django_db


@pytest.fixture
def case(people, team, script):
    return make_workbench_case(people, team, 2, {"query 1": {"a": 3, "b": 1}})


@pytest.fixture
def other(people, team, script):
    return make_workbench_case(people, team, 3, {"query 1": {"a": 0}, "query 3": {"c": 2}})


def test_a_merge_is_previewed_and_done(sign_in, case, other):
    client, url = sign_in("owner"), reverse("book_merge", args=[case.book_id])
    assert client.get(url).context["preview"] is None
    response = client.get(url, {"other": other.book_id})
    result = response.context["preview"].result
    assert (result.moved, result.merged, result.ratings, result.replaced) == (1, 2, 2, 1)
    assert Book.objects.count() == 2
    response = client.post(url, {"other": other.book_id})
    assert (response.status_code, response.url) == (302, reverse("book", args=[case.book_id]))
    assert list(Book.objects.values_list("pk", flat=True)) == [case.book_id]
    assert client.get(response.url).status_code == 200
    assert client.get(reverse("case", args=[other.pk])).status_code == 200


def test_books_that_one_may_not_edit_or_with_another_scale_are_refused(sign_in, people, case):
    foreign = Book.objects.create(name="Foreign", owner=people["stranger"], scale=[[0, ""], [1, ""]], relevant_from=1)
    client, url = sign_in("owner"), reverse("book_merge", args=[case.book_id])
    assert client.post(url, {"other": foreign.pk}).status_code == 422
    assert "other" in client.get(url, {"other": foreign.pk}).context["form"].errors
    Book.objects.filter(pk=foreign.pk).update(owner=people["owner"])
    response = client.post(url, {"other": foreign.pk})
    assert response.status_code == 422
    assert response.context["form"].non_field_errors()
    assert sign_in("editor").post(url, {"other": foreign.pk}).status_code == 403
    assert Book.objects.count() == 2


def test_a_book_that_one_only_edits_is_not_merged(sign_in, people, case, other):
    mine = Book.objects.create(name="Mine", owner=people["editor"], scale=case.book.scale, relevant_from=1)
    client = sign_in("editor")
    url = reverse("book_merge", args=[mine.pk])
    assert client.get(reverse("book", args=[other.book_id])).status_code == 200
    assert "other" in client.get(url, {"other": other.book_id}).context["form"].errors
    assert client.post(url, {"other": other.book_id}).status_code == 422
    assert client.post(reverse("book_merge", args=[other.book_id]), {"other": mine.pk}).status_code == 403
    assert Book.objects.count() == 3
