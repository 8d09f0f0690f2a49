"""Scorers with a measure whose package is no longer installed: a notice, never an error of the server."""

import pytest

from relevancy.models import Scorer, ScorerVersion
from tests.views.factories import make_case, make_run


@pytest.fixture
def scorer(people):
    scorer = Scorer.objects.create(name="Gone", owner=people["owner"])
    ScorerVersion.objects.create(scorer=scorer, number=1, measure="Gone@10", scale=[[0, ""], [1, ""]])
    return scorer


@pytest.mark.parametrize("page", ["", "edit/", "share/", "replace/", "delete/", "export/"])
def test_pages_open(sign_in, scorer, page):
    client = sign_in("owner")
    assert client.get("/scorers/").status_code == 200
    response = client.get(f"/scorers/{scorer.pk}/{page}")
    assert response.status_code == 200
    assert "Gone" in response.content.decode()


def test_scorer_page_says_that_the_measure_is_not_installed(sign_in, scorer):
    assert "not installed" in sign_in("owner").get(f"/scorers/{scorer.pk}/").content.decode()


def test_preview_says_that_the_measure_is_unknown(sign_in, people, scorer):
    case = make_case(people["owner"])
    make_run(case)
    client = sign_in("owner")
    for fields in ({"on": "typed", "grades": "1 0 1"}, {"on": "query", "case": case.pk}):
        response = client.post("/scorers/try/", {"scorer": scorer.pk, **fields})
        assert response.status_code == 422
        assert response.context["result"].problems


def test_preview_compares_with_an_unknown_measure(sign_in, scorer):
    other = Scorer.objects.filter(is_default=True).get()
    fields = {"scorer": other.pk, "on": "typed", "grades": "1 2 3", "compare": scorer.pk}
    response = sign_in("owner").post("/scorers/try/", fields)
    assert response.status_code == 200
    assert response.context["result"].other_problem


def test_duplicate_is_refused(sign_in, scorer):
    response = sign_in("owner").post(f"/scorers/{scorer.pk}/duplicate/", follow=True)
    assert response.status_code == 200
    assert Scorer.objects.filter(name__startswith="Copy of").count() == 0
