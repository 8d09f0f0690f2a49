"""Scores and pages of cases whose measure or engine package has been uninstalled."""

import pytest

from relevancy import ratings, runs, scores
from relevancy.models import QueryScore, Rating, Run, ScorerDefinition, ScorerVersion
from relevancy.scores import score_rankings
from tests.factories import make_attempt, make_case, query_of, rescore, run_now, stored_scores

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.fixture
def run() -> Run:
    """A run of a case scored by P@3 and by a measure that is no longer installed."""
    case = make_case(2, {"query 1": {"a": 3}}, measures=["P@3", "RR@10"])
    run = run_now(make_attempt(case))
    ScorerVersion.objects.filter(measure="RR@10").update(measure="Gone@10")
    return Run.objects.select_related("case__book").get(pk=run.pk)


def test_rate_stores_the_rating_and_an_error(run: Run) -> None:
    query = query_of(run.case, "query 1")
    changed = ratings.rate(query=query, doc_id="b", value=2, by=run.case.owner)
    rescore(run, query.pk)
    assert (changed, Rating.objects.filter(doc_id="b").count()) == (1, 1)
    score = QueryScore.objects.get(run=run, query=query, version__measure="Gone@10")
    assert score.score is None
    assert "Gone" in score.error
    assert stored_scores(run)["P@3", "query 1"][1] == pytest.approx(200 / 3)


def test_start_and_finish_a_run(run: Run) -> None:
    again = run_now(run.attempt)
    assert again.status == Run.Status.COMPLETE
    assert again.rows == 10
    assert set(QueryScore.objects.filter(run=again).exclude(error="").values_list("version__measure", flat=True)) == {
        "Gone@10"
    }


def test_rescore_preview_and_cutoff(run: Run) -> None:
    definition = ScorerDefinition(measure="Gone@10")
    assert scores.cutoff_of(definition) is None
    assert scores.forget_failed(run, seconds=60)
    assert scores.rescore_run(run) >= 0
    preview = scores.preview_query(definition, run=run, query_id=query_of(run.case, "query 1").pk)
    assert preview is not None
    assert "Gone" in preview.error


def test_rate_survives_an_unexpected_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(score_rankings, "score_definition", fail)
    query = query_of(run.case, "query 1")
    ratings.rate(query=query, doc_id="b", value=2, by=run.case.owner)
    rescore(run, query.pk)
    assert Rating.objects.filter(doc_id="b").count() == 1
    errors = QueryScore.objects.filter(run=run, query=query).values_list("error", flat=True)
    assert set(errors) == {score_rankings.UNEXPECTED_ERROR}


def test_rate_survives_a_ranking_that_has_been_replaced(run: Run) -> None:
    query = query_of(run.case, "query 1")
    ranking = run.rankings.get(query=query)
    run.rankings.filter(pk=ranking.pk).update(query=run.rankings.exclude(pk=ranking.pk).get().query, run=other(run))
    changed = ratings.rate(query=query, doc_id="b", value=2, by=run.case.owner)
    rescore(run, query.pk)
    assert changed == 1
    assert Rating.objects.filter(doc_id="b").count() == 1


def other(run: Run) -> Run:
    """Another run of the same case, without rankings."""
    return runs.start(attempt=run.attempt, by=run.case.owner)


def test_results_of_an_uninstalled_engine(run: Run) -> None:
    run.config["engine"] = "gone"
    ranking = run.rankings.get(query=query_of(run.case, "query 1"))
    ranking.run = run
    assert [result.doc_id for result in runs.build_results(ranking, by=run.case.owner, depth=10)] == ["a", "b", "c"]
    assert not runs.abilities(ranking.run).explain
    assert not runs.abilities(ranking.run).lookup
