"""Documents that an editor looks for, and where the run has them."""

from pathlib import Path
from typing import Any

import pytest

from relevancy import endpoints, engines, runs
from relevancy.engines.embedded.engine import EmbeddedEngine
from relevancy.models import Case, Endpoint, Ranking
from relevancy.runs import DocumentPosition, finding
from tests.factories import make_attempt, make_case, make_user, rate_all, run_now

pytestmark = pytest.mark.django_db
# Longer titles have lower scores, so that the rank of a film is its number.
FILMS: list[dict[str, Any]] = [{"id": str(rank), "title": "Star" + " film" * rank} for rank in range(1, 31)]
OTHERS: list[dict[str, Any]] = [{"id": "x y,z", "title": "Solaris"}, {"id": "31", "title": "Solaris film"}]


@pytest.fixture
def ranking(data_dir: Path) -> Ranking:
    """The ranking of “star”, of which 5 results are shown, 10 were returned, and 30 match."""
    case = make_case(["star"], {"star": {"2": 3}})
    endpoint = endpoints.create(name="films", engine="embedded", url="films", by=case.owner)
    with endpoints.connect(endpoint) as engine:
        engine.load_documents([*FILMS, *OTHERS])
    template = '{"query": "#$query##", "fields": {"title": 1}}'
    attempt = runs.attempts.save(
        case=case, endpoint=endpoint, template=template, fields="id:id title:title", depth=5, by=case.owner
    )
    stored: Ranking = run_now(attempt).rankings.get()
    stored.run = case.runs.select_related("case__book", "attempt__endpoint").get()
    return stored


def owner_of(ranking: Ranking) -> Any:
    return ranking.run.case.owner


def positions(expected: runs.FoundDocuments) -> dict[str, DocumentPosition]:
    return {document.doc_id: document.position for document in expected.documents}


def test_find_by_a_query_of_ones_own(ranking: Ranking) -> None:
    """Documents that the query of the run does not match are found too, and said to be such."""
    result = runs.find_documents(ranking, "solaris", by=owner_of(ranking))
    assert positions(result) == {item["id"]: DocumentPosition(matches=False) for item in OTHERS}
    assert [document.title for document in result.documents] == ["Solaris", "Solaris film"]
    assert (result.total, result.searched_ranks, result.rank_error) == (2, 30, "")


def test_find_ranks_in_the_run_and_beyond(ranking: Ranking) -> None:
    assert len(ranking.hits) == 10
    result = runs.find_documents(ranking, "2 7 12 31", by=owner_of(ranking), method="ids")
    assert positions(result) == {
        "2": DocumentPosition(rank=2, matches=True),
        "7": DocumentPosition(rank=7, matches=True),
        "12": DocumentPosition(rank_now=12, matches=True),
        "31": DocumentPosition(matches=False),
    }
    assert [(document.grade, document.mine) for document in result.documents] == [(3, 3), *[(None, None)] * 3]
    assert [judgment.value for judgment in result.documents[0].judgments] == [3]


def test_find_beyond_the_last_rank_that_is_looked_at(ranking: Ranking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "MAX_RANK", 15)
    result = runs.find_documents(ranking, "15,16", by=owner_of(ranking), method="ids")
    assert positions(result) == {
        "15": DocumentPosition(rank_now=15, matches=True),
        "16": DocumentPosition(matches=True),
    }
    assert result.searched_ranks == 15


def test_find_documents_that_the_run_returned_sends_one_request(
    ranking: Ranking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EmbeddedEngine, "_search", lambda *args: pytest.fail("There is nothing to search for."))
    result = runs.find_documents(ranking, "1 2", by=owner_of(ranking), method="ids")
    assert [position.rank for position in positions(result).values()] == [1, 2]
    assert result.searched_ranks == 0


def test_find_by_an_id_of_any_characters(ranking: Ranking) -> None:
    result = runs.find_documents(ranking, " x y,z ", by=owner_of(ranking), method="ids")
    assert list(positions(result)) == ["x y,z"]
    assert not runs.find_documents(ranking, "nothing", by=owner_of(ranking), method="ids").documents


def test_find_by_the_template_with_other_words(ranking: Ranking) -> None:
    result = runs.find_documents(ranking, "solaris star", by=owner_of(ranking), method="template")
    assert result.total == 32, "Any of the words is enough for the template."
    assert len(result.documents) == finding.MAX_FOUND
    own = runs.find_documents(ranking, "solaris star", by=owner_of(ranking))
    assert own.total == 0, "All words must occur."


def test_find_without_ranks(ranking: Ranking, monkeypatch: pytest.MonkeyPatch) -> None:
    """The documents are listed although the engine does not say where they are."""

    def refuse(*args: object) -> None:
        raise engines.TooSlow("No response within 30 s.")

    monkeypatch.setattr(EmbeddedEngine, "explain_many", refuse)
    result = runs.find_documents(ranking, "31 12", by=owner_of(ranking), method="ids")
    assert positions(result) == {
        "31": DocumentPosition(),
        "12": DocumentPosition(rank_now=12, matches=True),
    }
    assert result.rank_error == "No response within 30 s."


def test_find_with_an_engine_that_does_not_explain(script: object) -> None:
    """What is on none of the ranks may match or not: the engine does not say."""
    case = make_case(["q", "other"])
    ranking = _first_ranking(case)
    result = runs.find_documents(ranking, "other", by=case.owner)
    assert result.documents and not result.rank_error
    assert {position.matches for position in positions(result).values()} <= {True, None}


def test_find_is_for_users_who_may_use_the_endpoint(ranking: Ranking) -> None:
    with pytest.raises(runs.RunNotAllowed, match="is not an editor"):
        runs.find_documents(ranking, "star", by=make_user("Stranger"))
    Endpoint.objects.update(url="elsewhere")
    ranking.run.attempt.endpoint.refresh_from_db()
    with pytest.raises(engines.EngineError, match="is now elsewhere"):
        runs.find_documents(ranking, "star", by=owner_of(ranking))


def test_find_shows_the_grade_by_the_rule_of_the_book(ranking: Ranking) -> None:
    rate_all(ranking.run.case, {"star": {"12": 1}}, by=make_user("Other"))
    result = runs.find_documents(ranking, "12", by=owner_of(ranking), method="ids")
    assert [(document.grade, document.mine) for document in result.documents] == [(1, None)]


def _first_ranking(case: Case) -> Ranking:
    run_now(make_attempt(case))
    run = case.runs.select_related("case__book", "attempt__endpoint").get()
    ranking: Ranking = run.rankings.get(query__text="q")
    ranking.run = run
    return ranking
