"""Several scorers on one case: scored together, written without losing to each other, read in one statement each."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from relevancy import cases, evaluation, judging
from relevancy.evaluation import chunk, figures, scores
from relevancy.models import CaseScore, QueryScore, Run, Scorer, ScorerVersion
from tests.factories import make_attempt, make_case, make_scorer, query_of, rate_all, run_now, script_of, stored_scores

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
RATINGS = {"query 1": {"a": 3, "x": 1}, "query 2": {"c": 2}}
FAILS_ON_TWO = 'if (query.text.indexOf("2") > 0) { nobody.there(); } setScore(40);'


def scripted(script: str, name: str = "a script", **version: Any) -> Scorer:
    """A scorer with a script."""
    return make_scorer("", name, script=script, **version)


def new_version(scorer: Scorer) -> ScorerVersion:
    found: ScorerVersion = scorer.versions.get()
    return found


def statements(work: Any) -> int:
    with CaptureQueriesContext(connection) as captured:
        work()
    return len(captured)


# --- what is written ---


def test_store_newer_ratings_win_over_scores_computed_before_them() -> None:
    case = make_case(1, {"query 1": {"c": 3}})
    run = run_now(make_attempt(case))
    versions = evaluation.versions_of(case)
    late = figures.compute(run, figures.ranked(run.rankings.all()), versions)
    judging.rate(query=query_of(case, "query 1"), doc_id="a", value=3, by=case.owner, run=run)
    newer = QueryScore.objects.get()
    assert newer.score != late[0].score
    scores.store(late)
    assert QueryScore.objects.get().score == newer.score
    assert QueryScore.objects.get().revision == newer.revision == late[0].revision + 1


def test_store_nothing_of_a_ranking_that_is_gone() -> None:
    case = make_case(2, RATINGS)
    run = run_now(make_attempt(case))
    late = figures.compute(run, figures.ranked(run.rankings.all()), evaluation.versions_of(case))
    run.rankings.filter(query__text="query 1").delete()
    scores.store(late)
    assert [score.query.text for score in QueryScore.objects.all()] == ["query 2"]


def test_compute_before_a_rating_leaves_a_stale_score(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(1, {"query 1": {"c": 3}})
    run = run_now(make_attempt(case))
    version = evaluation.versions_of(case)[0]
    QueryScore.objects.all().delete()
    read = figures.known_grades

    def rated_meanwhile(*arguments: Any) -> Any:
        monkeypatch.undo()
        judging.rate(query=query_of(case, "query 1"), doc_id="a", value=1, by=case.owner)
        return read(*arguments)

    monkeypatch.setattr(figures, "known_grades", rated_meanwhile)
    evaluation.rescore_run(run)
    assert evaluation.has_stale(run, version) == 1
    evaluation.rescore_run(run)
    assert evaluation.has_stale(run, version) == 0


def test_score_case_several_versions_cost_no_more_statements() -> None:
    case = make_case(3, RATINGS, measures=["nDCG@10"])
    run = run_now(make_attempt(case))
    evaluation.score_case(run, evaluation.versions_of(case))
    one = statements(lambda: evaluation.score_case(run, evaluation.versions_of(case)))
    cases.choose_scorers(case=case, scorers=Scorer.objects.filter(name__in=["nDCG@10", "P@10", "RR@10", "ERR@10"]))
    evaluation.rescore_run(run)
    assert statements(lambda: evaluation.score_case(run, evaluation.versions_of(case))) == one
    several = {row.version.scorer.name: row.scored for row in CaseScore.objects.select_related("version__scorer")}
    assert several == {"nDCG@10": 2, "P@10": 2, "RR@10": 2, "ERR@10": 2}


def test_score_case_of_a_scorer_without_any_score() -> None:
    case = make_case(2, RATINGS)
    run = run_now(make_attempt(case))
    (row,) = evaluation.score_case(run, [new_version(make_scorer("P@1", "unused"))])
    assert (row.score, row.low, row.scored, row.queries, row.unrated, row.failed) == (None, None, 0, 2, 0, 0)


def test_score_case_again_on_one_day_overwrites() -> None:
    case = make_case(1, {"query 1": {"b": 3}})
    run = run_now(make_attempt(case))
    before = CaseScore.objects.get()
    judging.rate(query=query_of(case, "query 1"), doc_id="a", value=3, by=case.owner, run=run)
    after = CaseScore.objects.get()
    assert after.pk == before.pk
    assert (after.score, after.unrated) != (before.score, before.unrated)
    assert after.updated_at > before.updated_at


# --- scored again ---


def test_has_stale_counts_every_version() -> None:
    case = make_case(3, RATINGS)
    run = run_now(make_attempt(case))
    cases.add_scorer(case=case, scorer=Scorer.objects.get(name="RR@10"))
    versions = evaluation.versions_of(case)
    assert (evaluation.has_stale(run, versions[0]), evaluation.has_stale(run, *versions)) == (0, 3)
    assert evaluation.rescore_run(run) == 3
    rate_all(case, {"query 3": {"a": 1}}, case.owner)
    assert evaluation.has_stale(run, *versions) == 2
    assert evaluation.rescore_run(run) == 1
    assert evaluation.has_stale(run, *versions) == 0


def test_rescore_run_only_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(2, RATINGS)
    run = run_now(make_attempt(case))
    cases.add_scorer(case=case, scorer=Scorer.objects.get(name="RR@10"))
    asked: list[list[str]] = []
    compute = scores.compute

    def seen(run: Run, rankings: Any, versions: Any) -> Any:
        asked.append([version.scorer.name for version in versions])
        return compute(run, rankings, versions)

    monkeypatch.setattr(scores, "compute", seen)
    evaluation.rescore_run(run)
    assert asked == [["RR@10"]]


def test_rescore_run_a_scorer_the_case_has_not() -> None:
    case = make_case(2, RATINGS)
    run = run_now(make_attempt(case))
    other = new_version(Scorer.objects.get(name="RR@10"))
    assert evaluation.rescore_run(run, [other]) == 2
    assert CaseScore.objects.get(version=other).score == pytest.approx((100 + 100 / 3) / 2)
    assert [version.scorer.name for version in evaluation.versions_of(case)] == ["nDCG@10"]


def test_rescore_run_where_a_script_failed_only_when_asked() -> None:
    case = make_case(2, RATINGS)
    cases.choose_scorers(case=case, scorers=[scripted(FAILS_ON_TWO)])
    run = run_now(make_attempt(case))
    assert [found[1] for _, found in sorted(stored_scores(run).items())] == [40, None]
    assert "nobody is not defined" in QueryScore.objects.get(query__text="query 2").error
    whole = CaseScore.objects.get()
    assert (whole.score, whole.scored, whole.failed, whole.low) == (40, 1, 1, None)
    assert evaluation.has_stale(run, *evaluation.versions_of(case)) == 0
    assert (evaluation.rescore_run(run), evaluation.rescore_run(run, failed_too=True)) == (0, 1)


def test_rescore_run_a_script_that_is_mended_is_another_version() -> None:
    case = make_case(2, RATINGS)
    scorer = scripted(FAILS_ON_TWO)
    cases.choose_scorers(case=case, scorers=[scorer])
    run = run_now(make_attempt(case))
    ScorerVersion.objects.create(scorer=scorer, number=2, script="setScore(30);", scale=[[0, ""], [3, ""]])
    cases.scorers.adopt(scorer=scorer, cases=[case])
    assert evaluation.rescore_run(run) == 2
    numbers = CaseScore.objects.order_by("version__number").values_list("version__number", "score", "failed")
    assert list(numbers) == [(1, 40, 1), (2, 30, 0)]


# --- what is read ---


def test_beside_has_each_scorers_own_history_in_one_statement() -> None:
    case = make_case(2, RATINGS, measures=["nDCG@10", "RR@10", "P@10"])
    attempt = make_attempt(case)
    runs = [run_now(attempt)]
    script_of(attempt).answers["query 1"] = ("x", "b", "a")
    runs.append(run_now(attempt))
    versions = evaluation.versions_of(case)
    with CaptureQueriesContext(connection) as captured:
        found = evaluation.beside(case, versions[1:], runs[1])
    assert len(captured) == 1
    assert [each.version.scorer.name for each in found] == ["RR@10", "P@10"]
    for each in found:
        rows = CaseScore.objects.filter(version=each.version).order_by("run__number")
        assert each.history == [row.score for row in rows]
        assert each.now == rows[1]
        assert each.history[0] != each.history[1] or each.version.scorer.name == "RR@10"
    older = evaluation.beside(case, versions[1:], runs[0])
    assert [each.now.run_id for each in older if each.now] == [runs[0].pk] * 2


def test_beside_while_a_run_is_under_way_shows_the_last_score() -> None:
    case = make_case(2, RATINGS, measures=["nDCG@10", "RR@10"])
    attempt = make_attempt(case)
    first = run_now(attempt)
    waiting = evaluation.start(attempt=attempt, by=case.owner)
    (found,) = evaluation.beside(case, evaluation.versions_of(case)[1:], waiting)
    assert found.now is not None
    assert found.now.run_id == first.pk
    assert evaluation.beside(case, [], waiting) == []
    assert evaluation.beside(case, evaluation.versions_of(case), None)[0].now is None


def test_most_to_gain_is_the_largest_gap_of_the_case_present_queries() -> None:
    ratings = {"query 1": {"a": 1, "b": 3}, "query 2": {"x": 3}, "query 3": {"a": 3}}
    case = make_case(4, ratings)
    other = make_case(["query 2", "query 3"], book_of=case)
    run = run_now(make_attempt(case))
    version = evaluation.versions_of(case)[0]
    found = evaluation.most_to_gain(run, version)
    assert found == evaluation.Gain(case.case_queries.get(query__text="query 2").pk, "query 2", 100)
    cases.queries.remove(entry=case.case_queries.get(query__text="query 2"))
    found = evaluation.most_to_gain(run, version)
    assert found is not None
    assert (found.text, 0 < found.gap < 100) == ("query 1", True)
    cases.queries.remove(entry=case.case_queries.get(query__text="query 1"))
    assert evaluation.most_to_gain(run, version) is None
    assert other.case_queries.present().count() == 2


def test_most_to_gain_of_a_script_is_what_it_lacks_to_a_hundred() -> None:
    case = make_case(1, {"query 1": {"a": 3}})
    cases.choose_scorers(case=case, scorers=[scripted("setScore(40);")])
    found = evaluation.most_to_gain(run_now(make_attempt(case)), evaluation.versions_of(case)[0])
    assert found is not None
    assert found.gap == 60


def test_deepen_before_a_run_begins_and_not_after() -> None:
    case = make_case(1, {"query 1": {"a": 3}})
    attempt = make_attempt(case, depth=5)
    deep = new_version(make_scorer("P@50", "deep"))
    run = evaluation.start(attempt=attempt, by=case.owner)
    evaluation.deepen(run, [deep])
    assert (run.rows, Run.objects.get().rows) == (50, 50)
    run = evaluation.finish_here(run)
    evaluation.deepen(run, [new_version(make_scorer("P@70", "deeper"))])
    assert Run.objects.get().rows == 50


# --- scripts that take their time ---


def test_a_worker_shows_that_it_lives_before_each_scorer(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(2, RATINGS)
    cases.choose_scorers(case=case, scorers=[scripted("setScore(1);", f"script {number}") for number in range(3)])
    beats: list[int] = []
    beat = chunk.Chunk._beat

    def counted(self: chunk.Chunk) -> None:
        beats.append(QueryScore.objects.count())
        beat(self)

    monkeypatch.setattr(chunk.Chunk, "_beat", counted)
    run_now(make_attempt(case))
    assert beats[:4] == [0, 0, 0, 0]  # before each of the three, and in the transaction that writes


def test_a_rating_is_stored_before_a_script_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(1, {"query 1": {"a": 3}})
    cases.choose_scorers(case=case, scorers=[scripted("setScore(1);")])
    run = run_now(make_attempt(case))
    depths: list[int] = []
    score = figures.sandbox.score

    def seen(*arguments: Any, **options: Any) -> Any:
        depths.append(len(connection.savepoint_ids))
        return score(*arguments, **options)

    monkeypatch.setattr(figures.sandbox, "score", seen)
    outside = len(connection.savepoint_ids)
    judging.rate(query=query_of(case, "query 1"), doc_id="b", value=2, by=case.owner, run=run)
    assert depths == [outside]
    assert evaluation.has_stale(run, *evaluation.versions_of(case)) == 0
