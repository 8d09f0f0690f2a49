"""The page on how far raters agree has the figures of the service."""

import pytest
from django.urls import reverse

from relevancy import judgments
from relevancy.templatetags.numbers import coefficient
from relevancy.views.books import agreement
from tests.factories import make_user, rate_all
from tests.views.workbench.example_cases import make_bench

pytestmark = pytest.mark.django_db


@pytest.fixture
def case(people, team, script):
    """Three raters; the third one agrees with nobody."""
    case = make_bench(people, team, 12, {}, run=False)
    for number, name in enumerate(("One", "Two", "Three")):
        grades = [{"a": 3, "b": 2, "c": 0}, {"a": 3, "b": 1, "c": 0}, {"a": 0, "b": 3, "c": 2}][number]
        texts = range(1, 13) if number < 2 else range(1, 5)
        rate_all(case, {f"query {text}": grades for text in texts}, make_user(name))
    return case


def at(case):
    return reverse("book_agreement", args=[case.book_id])


def test_page_has_the_figures_of_the_service(sign_in, case):
    response = sign_in("viewer").get(at(case))
    result = judgments.measure_agreement(book=case.book)
    page = response.content.decode()
    expected = result.agreement.alpha["ordinal"]
    assert expected.value is not None
    for value in (expected.value, expected.low, expected.high, result.agreement.fleiss_kappa.value):
        assert coefficient(value) in page
    pairs = [(str(row.a), str(row.b), row.documents) for row in response.context["pairs"]]
    assert pairs == [("One", "Two", 36), ("One", "Three", 12), ("Two", "Three", 12)]
    assert next(row.quadratic for row in response.context["pairs"]) > 0.8


def test_page_without_shared_documents_says_what_to_set(sign_in, people, team, script):
    case = make_bench(people, team, 2, {"query 1": {"a": 3}}, run=False)
    page = sign_in("viewer").get(at(case)).content.decode()
    assert reverse("book", args=[case.book_id]) in page
    assert 'id="figures"' not in page


def test_more_ratings_than_the_page_measures_are_not_measured(sign_in, case, monkeypatch):
    monkeypatch.setattr(agreement, "MAX_RATINGS", 10)
    response = sign_in("viewer").get(at(case))
    assert "result" not in response.context
    assert "agreement" in response.content.decode()


def test_number_of_statements_is_constant(sign_in, case, django_assert_max_num_queries):
    client = sign_in("viewer")
    with django_assert_max_num_queries(10):
        client.get(at(case))
