"""Scores as they are stored: scoreable or not, weights, other scorers, staleness, the history."""

from datetime import timedelta

import pytest
from django.utils import timezone

from relevancy import engines, queries, ratings, runs, scorers, scores
from relevancy.models import CaseScore, QueryScore, Run, Scorer, ScorerVersion
from tests.factories import (
    make_attempt,
    make_case,
    make_scorer,
    query_of,
    rescore,
    run_now,
    script_of,
    stored_case_scores,
    stored_scores,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


def version_of(case: object) -> ScorerVersion:
    return ScorerVersion.objects.used_by(case)[0]  # type: ignore[arg-type]


def test_not_scoreable_is_neither_zero_nor_an_error() -> None:
    ratings = {"zero": {"x": 3}, "unscoreable": {"a": 0}, "good": {"a": 3}, "failed": {"a": 3}}
    case = make_case(["zero", "unscoreable", "unrated", "good", "failed"], ratings)
    attempt = make_attempt(case)
    script_of(attempt).answers["failed"] = engines.BadQuery("No.")
    run = run_now(attempt)
    scores = {query: row[1] for (_, query), row in stored_scores(run).items()}
    assert scores == {"zero": 0, "unscoreable": None, "unrated": None, "good": 100}
    score, _, _, scored, queries, _ = stored_case_scores(run)["nDCG@10"]
    assert (score, scored, queries) == (50, 2, 5)


def test_nothing_rated_is_no_score() -> None:
    run = run_now(make_attempt(make_case(2)))
    assert stored_case_scores(run)["nDCG@10"] == (None, None, None, 0, 2, 6)


def test_unscoreable_counted_as_zero_where_the_scorer_says_so() -> None:
    case = make_case(["good", "unrated"], {"good": {"a": 3}})
    scorers.choose_scorers(case=case, scorers=[make_scorer("nDCG@10", "with zero", count_unscoreable_as_zero=True)])
    run = run_now(make_attempt(case))
    score, _, _, scored, queries, _ = stored_case_scores(run)["with zero"]
    assert (score, scored, queries) == (50, 2, 2)


def test_score_case_weights_are_those_of_the_case() -> None:
    case = make_case(["good", "bad", "none"], {"good": {"a": 3}, "bad": {"x": 3}})
    other = make_case(["good", "bad"], book_of=case)
    other.case_queries.update(weight=100)
    case.case_queries.filter(query__text="good").update(weight=3)
    case.case_queries.filter(query__text="none").update(weight=50)
    run = run_now(make_attempt(case))
    assert stored_case_scores(run)["nDCG@10"][0] == pytest.approx(75)
    case.case_queries.update(weight=0)
    scores.score_case(run, ScorerVersion.objects.used_by(case))
    assert stored_case_scores(run)["nDCG@10"][0] is None


def test_the_books_scale_counts_not_the_scorers() -> None:
    case = make_case(1, {"query 1": {"a": 10, "b": 4}}, measures=["DCG(gain='linear')@2", "P@2"], scale="1:10")
    scores = stored_scores(run_now(make_attempt(case)))
    assert scores["DCG(gain='linear')@2", "query 1"][1] == pytest.approx(
        100 * (10 + 4 / 1.584962500721156) / (10 + 10 / 1.584962500721156)
    )
    assert scores["P@2", "query 1"][1] == 50  # relevant from 6 on


def test_choose_another_scorer_scores_old_runs_without_searching() -> None:
    case = make_case(2, {"query 1": {"b": 3}})
    attempt = make_attempt(case)
    run = run_now(attempt)
    script_of(attempt).requests.clear()
    scorers.choose_scorers(case=case, scorers=[Scorer.objects.get(name="RR@10"), make_scorer("P@1", "P@1")])
    assert scores.count_stale(run, version_of(case)) == 2
    assert scores.rescore_run(run) == 2
    score_list = stored_case_scores(run)
    assert (score_list["RR@10"][0], score_list["P@1"][0]) == (50, 0)
    assert score_list["nDCG@10"][0] is not None  # the history under the old one stays
    assert script_of(attempt).requests == []
    assert scores.rescore_run(run) == 0


def test_stale_after_a_rating_elsewhere_and_fresh_after_rescoring() -> None:
    case = make_case(3, {"query 1": {"a": 3}})
    run = run_now(make_attempt(case))
    version = version_of(case)
    assert scores.count_stale(run, version) == 0
    ratings.rate(query=query_of(case, "query 2"), doc_id="b", value=2, by=case.owner)
    assert scores.count_stale(run, version) == 1
    assert scores.rescore_run(run) == 1
    assert scores.count_stale(run, version) == 0
    assert QueryScore.objects.get(run=run, query__text="query 2").revision == 1


def test_has_stale_when_a_query_was_removed() -> None:
    case = make_case(3)
    run = run_now(make_attempt(case))
    queries.remove(case_query=case.case_queries.get(query__text="query 3"))
    run = runs.finish_here(runs.complete(run=run, by=case.owner))
    assert (run.done, scores.count_stale(run, version_of(case))) == (2, 0)
    QueryScore.objects.filter(query__text="query 1").delete()
    assert scores.count_stale(run, version_of(case)) == 1


def test_case_score_one_per_day_and_the_history_shows_the_last_of_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(1, {"query 1": {"b": 3}})
    attempt = make_attempt(case)
    first = run_now(attempt)
    scores.rescore_run(first)
    assert CaseScore.objects.filter(run=first).count() == 1
    for days in range(1, 200):
        day = timezone.localdate() - timedelta(days=days)
        CaseScore.objects.create(run=first, version=version_of(case), day=day, score=1)
    second = run_now(attempt)
    for days in range(1, 200):
        day = timezone.localdate() - timedelta(days=days)
        CaseScore.objects.create(run=second, version=version_of(case), day=day, score=1)
    points = scores.recent_case_scores(case, version_of(case))
    assert [(row.run_id, row.day) for row in points] == [
        (first.pk, timezone.localdate()),
        (second.pk, timezone.localdate()),
    ]


def test_a_later_day_gets_its_own_point(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(1, {"query 1": {"b": 3}})
    run = run_now(make_attempt(case))
    tomorrow = timezone.localdate() + timedelta(days=1)
    monkeypatch.setattr(timezone, "localdate", lambda: tomorrow)
    ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=3, by=case.owner)
    rescore(run, query_of(case, "query 1").pk)
    days = {row.day: row.score for row in CaseScore.objects.filter(run=run)}
    assert len(days) == 2
    assert days[tomorrow] > days[tomorrow - timedelta(days=1)]


def test_versions_of_those_the_case_is_scored_with_in_order() -> None:
    case = make_case(1, measures=["P@5", "nDCG@10"])
    scorer = case.case_scorers.first().scorer
    for number, measure in ((2, "P@4"), (3, "P@3")):
        ScorerVersion.objects.create(scorer=scorer, number=number, measure=measure, scale=[[0, ""], [1, ""]])
    assert [version.measure for version in ScorerVersion.objects.used_by(case)] == ["P@5", "nDCG@10"]
    assert [version.measure for version in ScorerVersion.objects.newer_than_used_by(case)] == ["P@3"]
    assert scorers.adopt(scorer=scorer, cases=[case]) == [case]
    versions = list(ScorerVersion.objects.used_by(case))
    assert [version.measure for version in versions] == ["P@3", "nDCG@10"]
    assert not ScorerVersion.objects.newer_than_used_by(case)
    scorers.make_primary(case=case, scorer=versions[1].scorer)
    assert [version.measure for version in ScorerVersion.objects.used_by(case)] == ["nDCG@10", "P@3"]


def test_bounds_of_the_case_contain_its_score() -> None:
    case = make_case(3, {"query 1": {"a": 1}, "query 2": {"c": 3}})
    score, low, high, *_ = stored_case_scores(run_now(make_attempt(case)))["nDCG@10"]
    assert 0 <= low < score <= high <= 100


def test_unsearched_counts_in_many_runs() -> None:
    case = make_case(3)
    attempt = make_attempt(case)
    all_runs = [run_now(attempt) for _ in range(3)]
    other = make_case(2, book_of=case)
    run_now(make_attempt(other))
    queries.add(case=case, texts=["new one"])
    assert runs.count_unsearched(all_runs[-1]) == {"new": 1, "edited": 0}
    assert Run.objects.count() == 4


def test_ids_look_wrong() -> None:
    case = make_case(1, {"query 1": {f"sku-{number}": 3 for number in range(10)}})
    run = run_now(make_attempt(case))
    points = scores.recent_case_scores(case, version_of(case))
    assert scores.ids_look_wrong(run, points[-1])
    ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=3, by=case.owner)
    rescore(run, query_of(case, "query 1").pk)
    assert not scores.ids_look_wrong(run, scores.recent_case_scores(case, version_of(case))[-1])


def test_ids_look_wrong_says_nothing_if_all_searches_failed() -> None:
    case = make_case(1, {"query 1": {f"sku-{number}": 3 for number in range(10)}})
    attempt = make_attempt(case)
    script_of(attempt).default = engines.BadQuery("No.")
    run = run_now(attempt)
    points = scores.recent_case_scores(case, version_of(case))
    assert not scores.ids_look_wrong(run, points[-1])
