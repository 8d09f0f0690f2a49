"""How the engine understood a query: a part of the tab “Request”, for editors."""

import pytest

from relevancy import cases, endpoints, runs
from relevancy.engines.errors import BadQuery
from relevancy.slow_requests import Busy
from tests.factories import make_case, run_now

from .example_cases import HTMX, at, case_query_of, elements, make_workbench_case, tree, words


@pytest.fixture
def films(people, team, data_dir):
    """A shared case on an embedded index, run once."""
    case = make_case(["star wars"], owner=people["admin"])
    cases.share(case=case, team=team)
    endpoint = endpoints.create(name="films", engine="embedded", url="films", by=case.owner)
    with endpoints.connect(endpoint) as engine:
        engine.load_documents([{"id": "1", "title": "Star Wars", "year": 1977}])
    attempt = runs.attempts.save(
        case=case,
        endpoint=endpoint,
        template='{"query": "#$query##", "fields": {"title": 5}, "filter": {"year": {"gte": 1970}}, "operator": "and"}',
        by=case.owner,
    )
    run_now(attempt)
    return case


def open_part(client, case, name, text="star wars"):
    return client.get(at(case, name, case_query_of(case, text).pk), headers=HTMX)


def test_interpretation(sign_in, films):
    client = sign_in("editor")
    assert "What the engine understood" in words(tree(open_part(client, films, "query_request")))
    page = tree(open_part(client, films, "query_interpretation"))
    values = [words(value) for value in elements(page, _name="dd")]
    assert values == ["star war", "((title:star)^5 (title:war)^5)~2", 'year:{"gte": 1970}']
    (table,) = elements(page, cls="timings")
    assert "Whole search" in words(table)


@pytest.mark.parametrize("who", ["viewer", "rater"])
def test_interpretation_is_for_editors(sign_in, films, who):
    client = sign_in(who)
    assert open_part(client, films, "query_interpretation").status_code == 403
    assert "What the engine understood" not in words(tree(open_part(client, films, "query_request")))


@pytest.mark.parametrize("reason", [BadQuery("Cannot parse <b>"), Busy(), runs.RunNotAllowed("Not yours.")])
def test_interpretation_says_why_there_is_none(sign_in, films, monkeypatch, reason):
    def refuse(*args, **kwargs):
        raise reason

    monkeypatch.setattr(runs, "interpret", refuse)
    (alert,) = elements(tree(open_part(sign_in("editor"), films, "query_interpretation")), role="alert")
    assert words(alert) == str(reason)


def test_interpretation_of_an_engine_that_does_not_say(sign_in, people, team, script):
    case = make_workbench_case(people, team)
    client = sign_in("editor")
    assert "What the engine understood" not in words(tree(open_part(client, case, "query_request", "query 1")))
    (alert,) = elements(tree(open_part(client, case, "query_interpretation", "query 1")), role="alert")
    assert "does not say how it understands" in words(alert)
