"""`agreement BOOK`."""

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from relevancy import ratings
from relevancy.models import Case
from relevancy.optional.agreement.agreement import measure_agreement
from relevancy.optional.agreement.result_json import ScoredAgreementResult
from tests.factories import make_attempt, make_case, make_user, query_of, rate_all, run_now
from tests.test_guides import check_shape

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
        ratings.rate(query=query, doc_id=f"d{number}", value=grade, by=case.owner)
        ratings.rate(query=query, doc_id=f"d{number}", value=grade + (number % 10 == 0), by=jonas)
    ratings.rate(query=query_of(case, "query 1"), doc_id="alone", value=1, by=jonas)
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


def test_agreement_json_by_rater_query_and_number_of_raters(case: Case) -> None:
    """On four of the 40 documents, Jonas gives one grade more."""
    result = figures(case.name)
    jonas, mira = result["by_rater"]
    assert (jonas["rater"], mira["rater"]) == ("Jonas", "Mira")
    assert (jonas["bias"], mira["bias"]) == (pytest.approx(0.1), pytest.approx(-0.1))
    assert jonas["bias_interval"][0] < 0.1 < jonas["bias_interval"][1]
    assert (jonas["ratings"], jonas["items"], jonas["queries"], result["interval_queries"]) == (41, 40, 4, 4)
    assert sum(jonas["grades"].values()) == 41
    assert result["agreeing"] == [{"raters": 2, "agree": 2, "items": 36}, {"raters": 2, "agree": 1, "items": 4}]
    (pair,) = result["by_pair"]
    assert sum(map(sum, pair["confusion"])) == 40
    assert pair["agreement"] == pytest.approx(0.9)
    assert pair["intervals"]["kappa"][0] < pair["kappa"] < pair["intervals"]["kappa"][1]
    assert sum(query["items"] for query in result["by_query"]) == 40
    assert "scores" not in jonas


@pytest.mark.usefixtures("script")
def test_agreement_scores_say_what_one_rater_alone_would_make(case: Case) -> None:
    run_now(make_attempt(case))
    rows = figures(case.name, "--scores")["by_rater"]
    (score,) = rows[0]["scores"]
    assert (score["case"], score["run"], score["everyone"], score["alone"]) == (case.name, 1, 0, 0)
    rate_all(case, {"query 1": {"a": 3}}, case.owner)
    (score,) = figures(case.name, "--scores")["by_rater"][1]["scores"]
    assert 0 < score["everyone"] < score["alone"]  # Jonas gave higher grades to documents that were not returned
    assert "Mira alone" in agreement(case.name, "--scores")


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
    with django_assert_num_queries(3):
        measure_agreement(book=case.book)


def test_the_guide_names_the_members_of_the_json() -> None:
    (shape,) = re.findall(r"`(\{\"[^`]+\})`", (Path(__file__).parents[1] / "docs" / "agreement.md").read_text())
    check_shape(shape, ScoredAgreementResult)
