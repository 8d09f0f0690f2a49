"""Show the working: the table of a measure, the console of a script, as a dialog and as a page."""

import pytest

from relevancy import engines, models, scorers, scores
from relevancy.models import Scorer
from tests.factories import run_now, script_of

from .example_cases import HTMX, at, attributes, case_query_of, elements, make_workbench_case, tree, words
from .test_case_scorers import FAILS_ON_TWO, scripted

MEASURES = ["nDCG@10", "RR@10"]


@pytest.fixture
def case(people, team, script):
    return make_workbench_case(people, team, measures=MEASURES)


def working(client, case, text, headers=None, **query):
    return client.get(at(case, "query_working", case_query_of(case, text).pk, **query), headers=headers or {})


def version_of(name):
    return Scorer.objects.get(name=name).versions.get()


def test_working_of_a_measure_in_a_dialog_and_on_a_page(sign_in, case):
    client = sign_in("viewer")
    run = case.runs.select_related("case__book").get()
    query = case_query_of(case, "query 1").query_id
    tried = scores.preview_query(models.ScorerDefinition.of(version_of("nDCG@10")), run=run, query_id=query)
    for headers in ({}, HTMX):
        response = working(client, case, "query 1", headers)
        text = words(tree(response))
        assert tried.working.conclusion in text
        assert tried.reasons.sentence in text
        assert f"{tried.score:.1f}" in text
        assert "The working: “query 1”, run 1" in text
        rows = elements(tree(response), _name="tbody")
        assert len(elements(rows[0], _name="tr")) == len(tried.working.rows)
        assert ("<html" in response.content.decode()) is not bool(headers)


def test_working_under_each_scorer_of_the_case(sign_in, case):
    client = sign_in("viewer")
    for name in MEASURES:
        page = working(client, case, "query 1", HTMX, scorer=Scorer.objects.get(name=name).pk)
        links = elements(elements(tree(page), cls="tabs")[0], _name="a")
        assert [words(link) for link in links] == MEASURES
        assert [words(link) for link in links if "aria-current" in attributes(link)] == [name]
    for odd in ("x", "0", "99999", Scorer.objects.get(name="P@10").pk):  # the last one is not the case's
        page = working(client, case, "query 1", HTMX, scorer=odd)
        assert page.context["version"].scorer.name == "nDCG@10"


def test_working_of_a_script_is_its_console_and_what_it_was_given(sign_in, case):
    made = scripted('console.log("first is", docRating(0)); setScore(docRating(0) * 20);')
    scorers.add_scorer(case=case, scorer=made)
    text = words(tree(working(sign_in("viewer"), case, "query 1", HTMX, scorer=made.pk)))
    assert "first is 3" in text
    assert "60.0" in text


def test_working_of_a_script_that_fails_says_where(sign_in, case):
    made = scripted(FAILS_ON_TWO)
    scorers.add_scorer(case=case, scorer=made)
    text = words(tree(working(sign_in("viewer"), case, "query 2", HTMX, scorer=made.pk)))
    assert "The scorer failed" in text
    assert "Line 1: nobody is not defined" in text
    assert "No score: the scorer failed" in text


def test_working_where_there_is_nothing_to_score(sign_in, people, team, case):
    client = sign_in("viewer")
    script_of(case.attempts.get()).answers["query 1"] = engines.EngineError("Down.")
    run_now(case.attempts.select_related("case", "endpoint").get())
    assert "Run 2 has no results for this query" in words(tree(working(client, case, "query 1", HTMX)))
    never = make_workbench_case(people, team, run=False)
    assert "Nothing has been run yet" in words(tree(working(client, never, "query 1", HTMX)))


def test_working_of_an_older_run(sign_in, case):
    script_of(case.attempts.get()).answers["query 1"] = ("x", "a")
    run_now(case.attempts.select_related("case", "endpoint").get())
    client = sign_in("viewer")
    older = working(client, case, "query 1", HTMX, run=1)
    assert "“query 1”, run 1" in words(tree(older))
    assert all(
        "run=1" in attributes(link)["href"] for link in elements(elements(tree(older), cls="tabs")[0], _name="a")
    )
    assert older.context["preview"].score != working(client, case, "query 1", HTMX).context["preview"].score


def test_working_stores_nothing(sign_in, case, monkeypatch):
    monkeypatch.setattr("relevancy.scores.storage.store", lambda rows: pytest.fail("something was stored"))
    assert working(sign_in("viewer"), case, "query 3", HTMX).status_code == 200
