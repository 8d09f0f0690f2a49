"""Several scorers on one case: scored together, stored without overwriting each other, read in one statement each."""

from itertools import count
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from relevancy import queries, ratings, runs, scorers, scores
from relevancy.models import CaseScore, Query, QueryScore, Run, Scorer, ScorerVersion
from relevancy.runs import chunks
from relevancy.scores import grades, rescoring, score_rankings, scripts, storage
from tests.factories import (
    make_attempt,
    make_case,
    make_scorer,
    query_of,
    rate_all,
    rescore,
    run_now,
    script_of,
    stored_scores,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
RATINGS = {"query 1": {"a": 3, "x": 1}, "query 2": {"c": 2}}
FAILS_ON_TWO = 'if (query.text.indexOf("2") > 0) { nobody.there(); } setScore(40);'


def scripted(script: str, name: str = "a script", **version: Any) -> Scorer:
    """A scorer with a script."""
    return make_scorer("", name, script=script, **version)


def new_version(scorer: Scorer) -> ScorerVersion:
    newest: ScorerVersion = scorer.versions.get()
    return newest


def statements(work: Any) -> int:
    with CaptureQueriesContext(connection) as captured:
        work()
    return len(captured)


# --- what is written ---


def test_store_newer_ratings_win_over_scores_computed_before_them() -> None:
    case = make_case(1, {"query 1": {"c": 3}})
    run = run_now(make_attempt(case))
    versions = list(ScorerVersion.objects.used_by(case))
    late = score_rankings.compute_scores(run, list(run.rankings.all()), versions)
    ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=3, by=case.owner)
    rescore(run, query_of(case, "query 1").pk)
    newer = QueryScore.objects.get()
    assert newer.score != late[0].score
    storage.store(late)
    assert QueryScore.objects.get().score == newer.score
    assert QueryScore.objects.get().revision == newer.revision == late[0].revision + 1


def test_store_nothing_of_a_ranking_that_is_gone() -> None:
    case = make_case(2, RATINGS)
    run = run_now(make_attempt(case))
    late = score_rankings.compute_scores(run, list(run.rankings.all()), ScorerVersion.objects.used_by(case))
    scores.results_changed(run, [query_of(case, "query 1").pk])
    storage.store(late)
    assert [score.query.text for score in QueryScore.objects.all()] == ["query 2"]


def test_rescore_case_stops_between_batches_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(3, RATINGS)
    run = run_now(make_attempt(case))
    versions = list(ScorerVersion.objects.used_by(case))
    for number in (1, 2, 3):
        ratings.rate(query=query_of(case, f"query {number}"), doc_id="a", value=1, by=case.owner)
    clock = count()
    monkeypatch.setattr(rescoring, "BATCH", 1)
    monkeypatch.setattr(rescoring.time, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(rescoring.time, "sleep", lambda seconds: None)
    left = [scores.count_stale(run, *versions)]
    while not scores.rescore_case(case, seconds=1):
        left.append(scores.count_stale(run, *versions))
    assert left == [3, 2, 1]
    assert scores.count_stale(run, *versions) == 0
    assert stored_scores(run)


def test_compute_before_a_rating_leaves_a_stale_score(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(1, {"query 1": {"c": 3}})
    run = run_now(make_attempt(case))
    version = ScorerVersion.objects.used_by(case)[0]
    QueryScore.objects.all().delete()
    read = grades.known_grades

    def rated_meanwhile(*arguments: Any) -> Any:
        monkeypatch.undo()
        ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=1, by=case.owner)
        return read(*arguments)

    monkeypatch.setattr(grades, "known_grades", rated_meanwhile)
    scores.rescore_run(run)
    assert scores.count_stale(run, version) == 1
    scores.rescore_run(run)
    assert scores.count_stale(run, version) == 0


def test_score_case_several_versions_cost_no_more_statements() -> None:
    case = make_case(3, RATINGS, measures=["nDCG@10"])
    run = run_now(make_attempt(case))
    scores.score_case(run, ScorerVersion.objects.used_by(case))
    one = statements(lambda: scores.score_case(run, ScorerVersion.objects.used_by(case)))
    scorers.choose_scorers(case=case, scorers=Scorer.objects.filter(name__in=["nDCG@10", "P@10", "RR@10", "ERR@10"]))
    scores.rescore_run(run)
    assert statements(lambda: scores.score_case(run, ScorerVersion.objects.used_by(case))) == one
    several = {row.version.scorer.name: row.scored for row in CaseScore.objects.select_related("version__scorer")}
    assert several == {"nDCG@10": 2, "P@10": 2, "RR@10": 2, "ERR@10": 2}


def test_score_case_of_a_scorer_without_any_score() -> None:
    case = make_case(2, RATINGS)
    run = run_now(make_attempt(case))
    (row,) = scores.score_case(run, [new_version(make_scorer("P@1", "unused"))])
    assert (row.score, row.low, row.scored, row.queries, row.unrated, row.failed) == (None, None, 0, 2, 0, 0)


def test_score_case_again_on_one_day_overwrites() -> None:
    case = make_case(1, {"query 1": {"b": 3}})
    run = run_now(make_attempt(case))
    before = CaseScore.objects.get()
    ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=3, by=case.owner)
    rescore(run, query_of(case, "query 1").pk)
    after = CaseScore.objects.get()
    assert after.pk == before.pk
    assert (after.score, after.unrated) != (before.score, before.unrated)
    assert after.updated_at > before.updated_at


# --- rescored ---


def test_has_stale_counts_every_version() -> None:
    case = make_case(3, RATINGS)
    run = run_now(make_attempt(case))
    scorers.add_scorer(case=case, scorer=Scorer.objects.get(name="RR@10"))
    versions = list(ScorerVersion.objects.used_by(case))
    assert (scores.count_stale(run, versions[0]), scores.count_stale(run, *versions)) == (0, 3)
    assert scores.rescore_run(run) == 3
    rate_all(case, {"query 3": {"a": 1}}, case.owner)
    assert scores.count_stale(run, *versions) == 2
    assert scores.rescore_run(run) == 1
    assert scores.count_stale(run, *versions) == 0


def test_rescore_run_only_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(2, RATINGS)
    run = run_now(make_attempt(case))
    scorers.add_scorer(case=case, scorer=Scorer.objects.get(name="RR@10"))
    rescored: list[list[str]] = []
    score_known = rescoring.score_known

    def seen(run: Run, rankings: Any, versions: Any, graded: Any, **options: Any) -> Any:
        rescored.append([version.scorer.name for version in versions])
        return score_known(run, rankings, versions, graded, **options)

    monkeypatch.setattr(rescoring, "score_known", seen)
    scores.rescore_run(run)
    assert rescored == [["RR@10"]]


@pytest.mark.parametrize("is_large", [False, True])
def test_many_rankings_are_rescored_in_parts(monkeypatch: pytest.MonkeyPatch, is_large: bool) -> None:
    case = make_case(7, RATINGS)
    run_now(make_attempt(case))
    run = run_now(make_attempt(case))
    scorers.add_scorer(case=case, scorer=Scorer.objects.get(name="RR@10"))
    monkeypatch.setattr(rescoring, "WINDOW", 2)
    monkeypatch.setattr(rescoring, "MAX_SUMMED", 6 if is_large else 7)
    assert scores.rescore_run(run) == 7
    assert scores.count_stale(run, *ScorerVersion.objects.used_by(case)) == 0
    assert CaseScore.objects.get(run=run, version__scorer__name="RR@10").revision is not None
    assert scores.rescore_run(run) == 0
    rated = case.book.queries.order_by("pk")[3].pk
    Query.objects.filter(pk=rated).update(revision=F("revision") + 1)
    assert scores.rescore_run(run) == 1
    assert set(run.query_scores.filter(query=rated).values_list("revision", flat=True)) == {
        Query.objects.get(pk=rated).revision
    }


@pytest.mark.parametrize("is_large", [False, True])
def test_stale_scores_of_large_runs_are_found_by_hash_joins(monkeypatch: pytest.MonkeyPatch, is_large: bool) -> None:
    case = make_case(3, RATINGS)
    run = run_now(make_attempt(case))
    scorers.add_scorer(case=case, scorer=Scorer.objects.get(name="RR@10"))
    monkeypatch.setattr(rescoring, "MAX_SUMMED", 2 if is_large else 3)
    with CaptureQueriesContext(connection) as executed:
        assert scores.rescore_run(run) == 3
    joins = ["SET LOCAL enable_nestloop = off" in statement["sql"] for statement in executed]
    assert any(joins) == (is_large and connection.vendor == "postgresql")


def test_rescoring_goes_on_where_it_was_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(7, RATINGS)
    run = run_now(make_attempt(case))
    scorers.add_scorer(case=case, scorer=Scorer.objects.get(name="RR@10"))
    versions = list(ScorerVersion.objects.used_by(case))
    monkeypatch.setattr(rescoring, "WINDOW", 3)
    monkeypatch.setattr(rescoring, "BATCH", 2)
    left = [scores.count_stale(run, *versions)]
    while not scores.continue_rescore(run, versions, seconds=-1.0):
        left.append(scores.count_stale(run, *versions))
    assert left[0] == 7
    assert len(left) >= 3  # of at most three rankings a call
    assert left == sorted(set(left), reverse=True)
    assert scores.count_stale(run, *versions) == 0
    assert CaseScore.objects.filter(run=run).count() == 2


def test_rescore_run_with_a_scorer_that_is_not_on_the_case() -> None:
    case = make_case(2, RATINGS)
    run = run_now(make_attempt(case))
    other = new_version(Scorer.objects.get(name="RR@10"))
    assert scores.rescore_run(run, [other]) == 2
    assert CaseScore.objects.get(version=other).score == pytest.approx((100 + 100 / 3) / 2)
    assert [version.scorer.name for version in ScorerVersion.objects.used_by(case)] == ["nDCG@10"]


def test_rescore_run_retries_a_failed_script_only_if_requested() -> None:
    case = make_case(2, RATINGS)
    scorers.choose_scorers(case=case, scorers=[scripted(FAILS_ON_TWO)])
    run = run_now(make_attempt(case))
    assert [result[1] for _, result in sorted(stored_scores(run).items())] == [40, None]
    assert "nobody is not defined" in QueryScore.objects.get(query__text="query 2").error
    whole = CaseScore.objects.get()
    assert (whole.score, whole.scored, whole.failed, whole.low) == (40, 1, 1, None)
    assert scores.count_stale(run, *ScorerVersion.objects.used_by(case)) == 0
    assert scores.rescore_run(run) == 0
    assert scores.forget_failed(run, seconds=60)
    assert scores.rescore_run(run) == 1


def test_failed_scores_are_forgotten_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(7, RATINGS)
    scorers.choose_scorers(case=case, scorers=[scripted("nobody.there();")])
    run, other = run_now(make_attempt(case)), run_now(make_attempt(case))
    versions = list(ScorerVersion.objects.used_by(case))
    run.query_scores.filter(query__text="query 1").update(error="", score=40)
    monkeypatch.setattr(rescoring, "BATCH", 2)
    assert CaseScore.objects.get(run=run).revision is not None
    left = [scores.count_stale(run, *versions)]
    while not scores.forget_failed(run, seconds=-1.0):
        left.append(scores.count_stale(run, *versions))
    assert left == [0, 2, 4]
    assert CaseScore.objects.get(run=run).revision is None  # a worker that dies here leaves work that another one finds
    assert [score.score for score in run.query_scores.all()] == [40]
    assert other.query_scores.count() == 7
    other.fields_dropped_at = timezone.now()
    other.save()
    assert scores.forget_failed(other, seconds=60)
    assert other.query_scores.exclude(error="").count() == 7  # nothing could compute them again


def test_rescore_run_a_corrected_script_is_another_version() -> None:
    case = make_case(2, RATINGS)
    scorer = scripted(FAILS_ON_TWO)
    scorers.choose_scorers(case=case, scorers=[scorer])
    run = run_now(make_attempt(case))
    ScorerVersion.objects.create(scorer=scorer, number=2, script="setScore(30);", scale=[[0, ""], [3, ""]])
    scorers.adopt(scorer=scorer, cases=[case])
    assert scores.rescore_run(run) == 2
    numbers = CaseScore.objects.order_by("version__number").values_list("version__number", "score", "failed")
    assert list(numbers) == [(1, 40, 1), (2, 30, 0)]


# --- what is read ---


def test_secondary_scores_have_each_scorers_own_history_in_one_statement() -> None:
    case = make_case(2, RATINGS, measures=["nDCG@10", "RR@10", "P@10"])
    attempt = make_attempt(case)
    all_runs = [run_now(attempt)]
    script_of(attempt).answers["query 1"] = ("x", "b", "a")
    all_runs.append(run_now(attempt))
    versions = list(ScorerVersion.objects.used_by(case))
    with CaptureQueriesContext(connection) as captured:
        result = scores.secondary_scores(case, versions[1:], all_runs[1])
    assert len(captured) == 1
    assert [item.version.scorer.name for item in result] == ["RR@10", "P@10"]
    for item in result:
        rows = CaseScore.objects.filter(version=item.version).order_by("run__number")
        assert item.history == [row.score for row in rows]
        assert item.now == rows[1]
        assert item.history[0] != item.history[1] or item.version.scorer.name == "RR@10"
    older = scores.secondary_scores(case, versions[1:], all_runs[0])
    assert [item.now.run_id for item in older if item.now] == [all_runs[0].pk] * 2


def test_secondary_scores_leave_out_what_is_being_rescored() -> None:
    case = make_case(2, RATINGS, measures=["nDCG@10", "RR@10"])
    attempt = make_attempt(case)
    first, second = run_now(attempt), run_now(attempt)
    rate_all(case, {"query 1": {"c": 1}}, case.owner)
    versions = ScorerVersion.objects.used_by(case)[1:]
    scores.rescore_run(second)
    (result,) = scores.secondary_scores(case, versions, second)
    assert result.is_being_rescored
    assert (result.history[0], result.history[1] is None) == (None, False)
    scores.rescore_run(first)
    (result,) = scores.secondary_scores(case, versions, second)
    assert not result.is_being_rescored
    assert None not in result.history


def test_secondary_scores_during_a_run_are_those_of_the_last_one() -> None:
    case = make_case(2, RATINGS, measures=["nDCG@10", "RR@10"])
    attempt = make_attempt(case)
    first = run_now(attempt)
    waiting = runs.start(attempt=attempt, by=case.owner)
    (result,) = scores.secondary_scores(case, ScorerVersion.objects.used_by(case)[1:], waiting)
    assert result.now is not None
    assert result.now.run_id == first.pk
    assert scores.secondary_scores(case, [], waiting) == []
    assert scores.secondary_scores(case, ScorerVersion.objects.used_by(case), None)[0].now is None


def test_most_to_gain_is_the_largest_gap_of_the_case_present_queries() -> None:
    ratings = {"query 1": {"a": 1, "b": 3}, "query 2": {"x": 3}, "query 3": {"a": 3}}
    case = make_case(4, ratings)
    other = make_case(["query 2", "query 3"], book_of=case)
    run = run_now(make_attempt(case))
    version = ScorerVersion.objects.used_by(case)[0]
    result = scores.largest_gap(run, version)
    assert result == scores.LargestGap(case.case_queries.get(query__text="query 2").pk, "query 2", 100)
    queries.remove(case_query=case.case_queries.get(query__text="query 2"))
    result = scores.largest_gap(run, version)
    assert result is not None
    assert (result.text, 0 < result.gap < 100) == ("query 1", True)
    queries.remove(case_query=case.case_queries.get(query__text="query 1"))
    assert scores.largest_gap(run, version) is None
    assert other.case_queries.present().count() == 2


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL chooses indexes by the size of tables")
def test_most_to_gain_is_read_from_an_index() -> None:
    case = make_case(2, RATINGS)
    run = run_now(make_attempt(case))
    with CaptureQueriesContext(connection) as captured:
        scores.largest_gap(run, ScorerVersion.objects.used_by(case)[0])
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {captured[-1]['sql']}")
        plan = [row[-1] for row in cursor.fetchall()]
    assert "SEARCH stored USING INDEX query_score_gap (run_id=? AND version_id=? AND <expr>>?)" in plan


def test_most_to_gain_of_a_script_is_what_it_lacks_to_a_hundred() -> None:
    case = make_case(1, {"query 1": {"a": 3}})
    scorers.choose_scorers(case=case, scorers=[scripted("setScore(40);")])
    result = scores.largest_gap(run_now(make_attempt(case)), ScorerVersion.objects.used_by(case)[0])
    assert result is not None
    assert result.gap == 60


def test_deepen_before_a_run_begins_and_not_after() -> None:
    case = make_case(1, {"query 1": {"a": 3}})
    attempt = make_attempt(case, depth=5)
    deep = new_version(make_scorer("P@50", "deep"))
    run = runs.start(attempt=attempt, by=case.owner)
    runs.deepen(run, [deep])
    assert (run.rows, Run.objects.get().rows) == (50, 50)
    run = runs.finish_here(run)
    runs.deepen(run, [new_version(make_scorer("P@70", "deeper"))])
    assert Run.objects.get().rows == 50


# --- slow scripts ---


def test_a_worker_sends_a_heartbeat_before_each_scorer(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(2, RATINGS)
    scorers.choose_scorers(case=case, scorers=[scripted("setScore(1);", f"script {number}") for number in range(3)])
    beats: list[int] = []
    beat = chunks.Chunk._send_heartbeat

    def counted(self: chunks.Chunk) -> None:
        beats.append(QueryScore.objects.count())
        beat(self)

    monkeypatch.setattr(chunks.Chunk, "_send_heartbeat", counted)
    run_now(make_attempt(case))
    assert beats[:4] == [0, 0, 0, 0]  # before each of the three, and in the transaction that writes


def test_a_rating_runs_no_script_and_leaves_its_score_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(1, {"query 1": {"a": 3}})
    scorers.choose_scorers(case=case, scorers=[scripted("setScore(1);")])
    run = run_now(make_attempt(case))
    calls: list[Any] = []
    with monkeypatch.context() as patched:
        patched.setattr(scripts.sandbox, "score", lambda *arguments, **options: calls.append(arguments))
        ratings.rate(query=query_of(case, "query 1"), doc_id="b", value=2, by=case.owner)
        rescore(run, query_of(case, "query 1").pk)
    assert calls == []
    assert scores.count_stale(run, *ScorerVersion.objects.used_by(case)) == 1
    assert scores.rescore_run(run) == 1
