"""All runs of a case: scores and differences that follow the law of differences."""

import pytest
from django.utils import timezone

from relevancy import queries, scorers, scores, tasks
from relevancy.models import CaseScore, Run, RunComparison, ScorerVersion
from relevancy.scores import run_history
from tests.factories import make_attempt, make_case, make_scorer, rate_all, run_now, script_of

pytestmark = pytest.mark.django_db
RATINGS = {f"query {number}": {"a": 3} for number in (1, 2, 3)}


@pytest.fixture
def case(script):
    return make_case(3, RATINGS, measures=("P@1", "RR@10"))


@pytest.fixture
def attempt(case):
    return make_attempt(case)


def run_with(attempt, **lists):
    """A run whose engine returns the letters of each list, by the number of the query: `q1="ab"`."""
    script_of(attempt).answers = {f"query {name[1:]}": list(letters) for name, letters in lists.items()}
    return run_now(attempt)


def versions_of(case):
    return list(ScorerVersion.objects.used_by(case))


def read(case):
    return scores.read_history(case, versions_of(case))


def rescore(case):
    assert scores.rescore_history(case, seconds=60)


def test_scores_and_steps_of_several_scorers(case, attempt):
    first = run_with(attempt, q1="xa", q2="xa", q3="xa")
    run_with(attempt, q1="a", q2="a", q3="xa")
    rescore(case)
    history = read(case)
    p_at_1, rr = history.versions
    assert history.runs[0].run_id == first.pk
    assert [entry.scores[p_at_1.pk].score for entry in history.runs] == pytest.approx([0, 200 / 3])
    assert [entry.scores[rr.pk].score for entry in history.runs] == pytest.approx([50, 250 / 3])
    assert history.runs[0].steps == {}
    step = history.runs[1].steps[rr.pk]
    assert (step.baseline, step.compared, step.others) == (1, 3, 0)
    assert step.difference == pytest.approx(100 / 3)
    assert history.rescoring == 0


def test_nothing_shows_a_number_before_it_has_been_rescored(case, attempt):
    run_with(attempt, q1="a", q2="a", q3="a")
    run_with(attempt, q1="xa", q2="a", q3="a")
    rescore(case)
    rate_all(case, {"query 1": {"x": 3}}, case.owner)
    history = read(case)
    assert history.rescoring == 2
    for entry in history.runs:
        for part in entry.scores.values():
            assert part.is_being_rescored
            assert (part.score, part.low, part.high) == (None, None, None)
        for step in entry.steps.values():
            assert step.is_being_rescored
            assert step.difference is None
    rescore(case)
    history = read(case)
    assert history.rescoring == 0
    assert [entry.scores[history.versions[0].pk].score for entry in history.runs] == [100, 100]
    assert history.runs[1].steps[history.versions[0].pk].difference == 0


def test_rescoring_continues_where_it_stopped(case, attempt):
    for _ in range(3):
        run_with(attempt, q1="a", q2="a", q3="a")
    rate_all(case, {"query 2": {"b": 1}}, case.owner)
    assert not scores.rescore_history(case, seconds=-1)
    rescore(case)
    assert read(case).rescoring == 0
    assert scores.rescore_history(case, seconds=-1)  # there is nothing left


def test_a_scorer_that_was_just_added_is_being_rescored(case, attempt):
    run_with(attempt, q1="a", q2="a", q3="a")
    run_with(attempt, q1="a", q2="a", q3="a")
    scorers.add_scorer(case=case, scorer=make_scorer("AP@10"))
    history = read(case)
    added = history.versions[-1]
    assert [entry.scores[added.pk].is_being_rescored for entry in history.runs] == [True, True]
    assert history.rescoring == 2
    rescore(case)
    history = read(case)
    assert [entry.scores[added.pk].score for entry in history.runs] == [100, 100]
    assert history.rescoring == 0


def test_steps_are_over_the_queries_scored_in_both(case, attempt):
    run_with(attempt, q1="a", q2="a", q3="a")
    queries.add(case=case, texts=["query 4"])
    rate_all(case, {"query 4": {"z": 3}}, case.owner)
    run_with(attempt, q1="a", q2="a", q3="a", q4="yz")
    rescore(case)
    history = read(case)
    p_at_1 = history.versions[0].pk
    assert [entry.scores[p_at_1].score for entry in history.runs] == [100, 75]
    step = history.runs[1].steps[p_at_1]
    assert (step.difference, step.compared, step.others) == (0, 3, 1)


def test_a_series_ends_where_no_query_is_scored_in_both(case, attempt):
    run_with(attempt, q1="a", q2="a", q3="a")
    for text in RATINGS:
        queries.remove(case_query=case.case_queries.get(query__text=text))
    queries.add(case=case, texts=["query 4"])
    rate_all(case, {"query 4": {"z": 3}}, case.owner)
    run_with(attempt, q4="z")
    rescore(case)
    history = read(case)
    p_at_1 = history.versions[0].pk
    assert history.runs[1].steps[p_at_1].difference is None
    assert not history.runs[1].steps[p_at_1].is_being_rescored


def test_constant_number_of_statements_and_the_newest_runs(case, attempt, monkeypatch, django_assert_num_queries):
    for _ in range(3):
        run_with(attempt, q1="a", q2="a", q3="a")
    versions = versions_of(case)
    with django_assert_num_queries(3):
        assert len(scores.read_history(case, versions).runs) == 3
    write_runs(case, attempt, versions, [50.0] * 40)
    with django_assert_num_queries(3):
        assert len(scores.read_history(case, versions).runs) == 43
    monkeypatch.setattr(run_history, "MAX_RUNS", 10)
    with django_assert_num_queries(4):
        history = scores.read_history(case, versions)
    assert [entry.run.number for entry in history.runs] == list(range(34, 44))
    assert history.omitted == 33


def write_runs(case, attempt, versions, values):
    """Complete runs with scores and steps, written without searching."""
    last = case.runs.order_by("-number").first()
    revision = case.score_revision.revision
    runs = Run.objects.bulk_create(
        Run(
            case=case,
            attempt=attempt,
            number=last.number + n,
            status="complete",
            config={},
            rows=10,
            created_by=case.owner,
        )
        for n in range(1, len(values) + 1)
    )
    day = timezone.localdate()
    CaseScore.objects.bulk_create(
        CaseScore(run=run, version=version, day=day, score=value, scored=3, queries=3, revision=revision)
        for run, value in zip(runs, values, strict=True)
        for version in versions
    )
    scores_before = [last.case_scores.get(version=versions[0]).score, *values]
    RunComparison.objects.bulk_create(
        RunComparison(
            run=run,
            baseline=before,
            version=version,
            revision=revision,
            run_score=score,
            baseline_score=score_before,
            compared=3,
            better=0,
            worse=0,
            newly_scored=0,
            no_longer_scored=0,
        )
        for run, before, score, score_before in zip(runs, [last, *runs], values, scores_before, strict=False)
        for version in versions
    )
    return runs


def test_enqueue_history_rescore_only_once(case, monkeypatch):
    sent = []
    monkeypatch.setattr(tasks, "send", lambda task, pk: sent.append(pk))
    tasks.enqueue_history_rescore(case)
    tasks.enqueue_history_rescore(case)
    assert sent == [case.pk]
