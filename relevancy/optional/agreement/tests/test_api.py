"""The agreement of raters in the REST API."""

import json

import pytest
from django.core.management import call_command

from relevancy import ratings
from relevancy.optional.agreement import agreement
from tests.factories import make_case, make_user, query_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.fixture
def case():
    return make_case(3, {"query 1": {"a": 3}})


def test_agreement_is_what_the_command_prints(api, case, capsys, monkeypatch):
    client = api(case.owner)
    raters = [make_user(name) for name in ("Ann", "Ben", "Cleo")]
    for number in range(12):
        for rater in raters[: 2 + number % 2]:
            query = query_of(case, f"query {1 + number % 3}")
            value = (number + (rater.name == "Ben" and number % 4 == 0)) % 4
            ratings.rate(query=query, doc_id=f"d{number}", value=value, by=rater)
    result = client.get(f"/books/{case.book_id}/agreement")
    call_command("agreement", str(case.book_id), "--json")
    assert result == json.loads(capsys.readouterr().out)
    assert (result["raters"], result["items"], len(result["by_pair"])) == (4, 12, 3)  # the owner rated alone
    assert len(result["intervals"]["agreement"]) == 2

    monkeypatch.setattr("relevancy.optional.agreement.api.MAX_PAIRS", 1)
    (pair,) = client.get(f"/books/{case.book_id}/agreement")["by_pair"]
    assert (pair["a"], pair["b"], pair["items"]) == ("Ann", "Ben", 12)
    monkeypatch.setattr(agreement, "MAX_RATINGS", 20)
    response = client.send("GET", f"/books/{case.book_id}/agreement")
    assert response.status_code == 422
    assert "at most 20 are compared" in response.json()["detail"]
