"""Tests of the reads of the home page; most are with its view."""

import pytest

from relevancy import cases, queries
from relevancy.models import CaseScore
from tests.factories import make_attempt, make_case, run_now


def test_user_without_cases(db, django_user_model):
    user = django_user_model.objects.create_user("a@example.org")
    assert cases.case_rows(cases.find_cases(user)) == []
    assert cases.recent_activity(user) == []


def test_read_queries():
    pasted = queries.parse_pasted("a \n\na\r\nb\r" + "x" * 2049)
    assert (pasted.texts, pasted.repeated) == (["a", "b"], ["a"])
    assert [number for number, _ in pasted.rejected] == [5]


def test_seal_round_trip():
    sealed = cases.seal({"password": "secret word"})
    assert "secret word" not in sealed
    assert cases.unseal(sealed) == {"password": "secret word"}
    assert cases.unseal(cases.seal({})) == {}


@pytest.mark.django_db
def test_queries_of_a_large_case_are_those_that_its_newest_score_has_counted(script, monkeypatch):
    case = make_case(5, {"query 1": {"a": 1}})
    run_now(make_attempt(case))
    assert [row.query_count for row in cases.case_rows([case])] == [5]
    for module in ("cases.dashboard", "scores.history"):
        monkeypatch.setattr(f"relevancy.{module}.LARGE_CASE", 3)
    CaseScore.objects.update(queries=4)
    assert [row.query_count for row in cases.case_rows([case])] == [4]
