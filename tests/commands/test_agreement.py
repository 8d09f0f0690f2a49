"""`agreement BOOK`."""

import io
import json
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from relevancy import judgments
from relevancy.models import Case
from tests.factories import make_case, make_user, query_of

pytestmark = pytest.mark.django_db


def agreement(*words: str) -> str:
    out = io.StringIO()
    call_command("agreement", *words, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def figures(*words: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(agreement(*words, "--json"))
    return result


@pytest.fixture
def case() -> Case:
    """Mira and Jonas rate 40 documents of four queries; they differ on every tenth."""
    case = make_case(4, owner=make_user("Mira"))
    jonas = make_user("Jonas")
    for number in range(40):
        query, grade = query_of(case, f"query {number % 4 + 1}"), float(number % 3)
        judgments.rate(query=query, doc_id=f"d{number}", value=grade, by=case.owner)
        judgments.rate(query=query, doc_id=f"d{number}", value=grade + (number % 10 == 0), by=jonas)
    judgments.rate(query=query_of(case, "query 1"), doc_id="alone", value=1, by=jonas)
    return case


def test_agreement_json(case: Case) -> None:
    result = figures(case.name)
    assert (result["raters"], result["pairs"], result["items"]) == (2, 41, 40)
    assert result["agreement"] == pytest.approx(0.9)
    low, high = result["intervals"]["agreement"]
    assert low < 0.9 < high
    (pair,) = result["by_pair"]
    assert ({pair["a"], pair["b"]}, pair["items"]) == ({"Mira", "Jonas"}, 40)
    assert 0 < pair["kappa"] < pair["kappa_linear"] < pair["kappa_quadratic"] < 1
    assert 0 < result["alpha_nominal"] < result["alpha_interval"] < 1
    assert 0 < result["fleiss_kappa"] < 1


def test_agreement_leaves_out_documents_without_a_grade(case: Case) -> None:
    query = query_of(case, "query 1")
    query.ratings.filter(doc_id="d0").update(verdict="cannot", value=None)
    assert figures(case.name)["items"] == 39


def test_agreement_book_by_id_name_and_case(case: Case) -> None:
    case.book.name = "Judgments of films"
    case.book.save()
    assert figures(str(case.book_id)) == figures("Judgments of films") == figures(case.name)


def test_agreement_text(case: Case) -> None:
    text = agreement(case.name)
    assert "2 raters, 41 rated documents, 40 of them with two ratings or more" in text
    assert ".90 (" in text


def test_agreement_without_shared_documents() -> None:
    case = make_case(1, {"query 1": {"a": 3}})
    result = figures(case.name)
    assert (result["items"], result["agreement"], result["by_pair"]) == (0, None, [])
    assert "No document has two ratings" in agreement(case.name)


def test_agreement_refuses_unknown_and_ambiguous_books(case: Case) -> None:
    with pytest.raises(CommandError, match="There is no book 'nothing'") as caught:
        agreement("nothing")
    assert caught.value.returncode == 2
    other = make_case(1)
    for book in (case.book, other.book):
        book.name = "Films"
        book.save()
    with pytest.raises(CommandError, match="Several books are named 'Films'"):
        agreement("Films")
    with pytest.raises(CommandError, match="There is no book"):
        agreement("9" * 5000)


def test_agreement_costs_few_statements(case: Case, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(2):
        judgments.measure_agreement(book=case.book)
