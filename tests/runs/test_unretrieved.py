"""Rated documents that are not shown."""

from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from relevancy import endpoints, engines, runs
from relevancy.models import Case, Endpoint, Ranking, Rating, Run, read_hits
from relevancy.runs import unretrieved
from tests.factories import make_attempt, make_case, make_user, query_of, rate_all, run_now, script_of

pytestmark = pytest.mark.django_db
FILMS = [
    {"id": "1", "title": "Star Wars", "poster": "https://images.example/1.jpg"},
    {"id": "2", "title": "Star Trek"},
    {"id": "3", "title": "Solaris"},
]


def ranking_of(run: Run, text: str) -> Ranking:
    ranking: Ranking = run.rankings.get(query__text=text)
    ranking.run = run
    return ranking


@pytest.fixture
def films(data_dir: Path) -> Case:
    """A case on an embedded index of three films, run once."""
    case = make_case(["star"], {"star": {"1": 3, "3": 2, "gone": 3}})
    endpoint = endpoints.create(name="films", engine="embedded", url="films", by=case.owner)
    with endpoints.connect(endpoint) as engine:
        engine.load_documents(FILMS)
    attempt = runs.attempts.save(
        case=case,
        endpoint=endpoint,
        template='{"query": "#$query##", "fields": {"title": 1}}',
        fields="id:id title:title thumb:poster",
        by=case.owner,
    )
    run_now(attempt)
    return case


def newest(case: Case) -> Run:
    run: Run = case.runs.select_related("case__book", "attempt__endpoint").get()
    return run


def test_not_shown_best_grade_first(script: object) -> None:
    case = make_case(["q"], {"q": {"a": 3, "x": 1, "z": 3, "y": 3, "w": 0}})
    run = run_now(make_attempt(case))
    result = runs.list_unretrieved(ranking_of(run, "q"), by=case.owner, depth=10)
    assert [(item.doc_id, item.grade, item.mine, item.rank) for item in result.documents] == [
        ("y", 3, 3, None),
        ("z", 3, 3, None),
        ("x", 1, 1, None),
        ("w", 0, 0, None),
    ]
    assert result.more == 0


def test_not_shown_names_the_rank_below_what_is_shown(script: object) -> None:
    case = make_case(["q"], {"q": {"a": 1, "c": 2, "x": 2}})
    run = run_now(make_attempt(case))
    result = runs.list_unretrieved(ranking_of(run, "q"), by=case.owner, depth=2)
    assert [(item.doc_id, item.rank) for item in result.documents] == [("c", 3), ("x", None)]


def test_not_shown_applies_the_books_rule_and_names_the_raters(script: object) -> None:
    case = make_case(["q"], {"q": {"x": 3}})
    other = make_user("Other")
    rate_all(case, {"q": {"x": 1, "y": 2}}, other)
    Rating.objects.filter(doc_id="y").update(verdict="cannot", value=None)
    case.book.rule = "mean"
    case.book.save()
    run = run_now(make_attempt(case))
    (result,) = runs.list_unretrieved(ranking_of(run, "q"), by=other, depth=10).documents
    assert (result.doc_id, result.grade, result.mine) == ("x", 2, 1)
    assert [word.value for word in result.judgments] == [3, 1]


def test_not_shown_of_a_search_that_failed_or_found_nothing(script: object) -> None:
    case = make_case(["q", "r"], {"q": {"x": 3}, "r": {"x": 3}})
    attempt = make_attempt(case)
    script_of(attempt).answers = {"q": [], "r": engines.BadQuery("no")}
    run = run_now(attempt)
    for text in "qr":
        (result,) = runs.list_unretrieved(ranking_of(run, text), by=case.owner, depth=10).documents
        assert result.doc_id == "x"


def test_not_shown_lists_the_best_and_counts_the_rest(script: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unretrieved, "MAX_LISTED", 2)
    case = make_case(["q"], {"q": {f"x{number}": number % 4 for number in range(9)}})
    run_now(make_attempt(case))
    ranking = ranking_of(newest(case), "q")
    read_hits([ranking])
    with CaptureQueriesContext(connection) as captured:
        result = runs.list_unretrieved(ranking, by=case.owner, depth=10)
    assert [item.doc_id for item in result.documents] == ["x3", "x7"]
    assert result.more == 7
    assert len(captured) == 1


def test_look_up(films: Case) -> None:
    ranking = ranking_of(newest(films), "star")
    assert {hit[0] for hit in ranking.hits} == {"1", "2"}
    listed = runs.list_unretrieved(ranking, by=films.owner, depth=1).documents
    result = {item.doc_id: item for item in runs.look_up(ranking, listed, by=ranking.run.created_by)}
    assert result["gone"].gone and result["gone"].display is None
    assert not result["3"].gone
    assert result["3"].display is not None and result["3"].display.title == "Solaris"
    assert result["3"].fields == {"id": "3", "title": "Solaris"}
    assert [item.doc_id for item in listed] == [
        item.doc_id for item in runs.look_up(ranking, listed, by=ranking.run.created_by)
    ]


def test_look_up_sends_no_other_request(films: Case) -> None:
    ranking = ranking_of(newest(films), "star")
    assert runs.look_up(ranking, [], by=ranking.run.created_by) == []


def test_look_up_with_an_engine_without_lookups(script: object) -> None:
    case = make_case(["q"], {"q": {"x": 3}})
    ranking = ranking_of(run_now(make_attempt(case)), "q")
    assert not runs.abilities(ranking.run).lookup
    listed = runs.list_unretrieved(ranking, by=case.owner, depth=10).documents
    with pytest.raises(engines.EngineError, match="Scripted does not support looking up"):
        runs.look_up(ranking, listed, by=ranking.run.created_by)


def test_look_up_with_a_changed_endpoint(films: Case) -> None:
    run = newest(films)
    Endpoint.objects.update(url="elsewhere")
    ranking = ranking_of(newest(films), "star")
    listed: Any = runs.list_unretrieved(ranking, by=films.owner, depth=1).documents
    with pytest.raises(engines.EngineError, match="is now elsewhere"):
        runs.look_up(ranking, listed, by=ranking.run.created_by)
    assert run.config["url"] == "films"
    assert query_of(films, "star").ratings.count() == 3
