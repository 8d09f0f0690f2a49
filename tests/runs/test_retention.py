"""Displayed fields of old runs are deleted; scores, ids and pinned runs stay."""

from typing import Any

import pytest
from django.utils import timezone

from relevancy import runs, scores, tasks
from relevancy.models import Attempt, Case, Run, Scorer, ScorerVersion
from relevancy.runs import retention
from relevancy.scores import score_rankings
from tests.factories import make_attempt, make_case, query_of, rate_all, rescore, run_now, stored_scores

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
SCRIPT = "setScore(docs[0].id === 'a' ? 100 : 10);"


@pytest.fixture(autouse=True)
def quick(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.KEEP_FIELDS_RUNS = 2
    monkeypatch.setattr(retention, "PAUSE_SECONDS", 0)


@pytest.fixture
def attempt() -> Attempt:
    case = make_case(["q", "r"], {"q": {"a": 3}})
    return make_attempt(case)


def with_fields(run: Run) -> bool:
    """Whether every hit has its fields; fails for a run that has some with and some without."""
    kept = {bool(hit[2]) for ranking in run.rankings.all() for hit in ranking.hits}
    assert len(kept) == 1
    return kept.pop()


def fields_by_number(case: Case) -> list[bool]:
    return [with_fields(run) for run in case.runs.order_by("number")]


def test_prune_display_fields_of_runs_beyond_the_newest(attempt: Attempt) -> None:
    case = attempt.case
    for _ in range(4):
        run_now(attempt)
    before = stored_scores(case.runs.get(number=1))
    assert runs.has_prunable_runs(case.pk)
    assert runs.prune_display_fields(case) == 4
    assert fields_by_number(case) == [False, False, True, True]
    assert [run.fields_dropped_at is not None for run in case.runs.order_by("number")] == [True, True, False, False]
    assert not runs.has_prunable_runs(case.pk)
    ranking = case.runs.get(number=1).rankings.get(query__text="q")
    assert ranking.hits == [["a", 3.0, {}], ["b", 2.0, {}], ["c", 1.0, {}]]
    assert ranking.returned == 3
    assert stored_scores(case.runs.get(number=1)) == before
    assert runs.prune_display_fields(case) == 0


def test_prune_display_fields_deletes_snippets_too(attempt: Attempt) -> None:
    all_runs = [run_now(attempt) for _ in range(3)]
    ranking = all_runs[0].rankings.first()
    assert ranking is not None
    ranking.hits = [["a", 1.0, {}, {"title": "\ue000a\ue001"}]]
    ranking.save()
    runs.prune_display_fields(attempt.case)
    ranking.refresh_from_db()
    assert ranking.hits == [["a", 1.0, {}]]


def test_prune_display_fields_keeps_pinned_and_active_runs(attempt: Attempt) -> None:
    all_runs = [run_now(attempt) for _ in range(4)]
    Run.objects.filter(pk=all_runs[0].pk).update(pinned_at=timezone.now())
    Run.objects.filter(pk=all_runs[1].pk).update(status=Run.Status.RUNNING)
    assert not runs.has_prunable_runs(attempt.case_id)
    assert runs.prune_display_fields(attempt.case) == 0
    assert fields_by_number(attempt.case) == [True] * 4


def test_prune_display_fields_leaves_other_cases_alone(attempt: Attempt) -> None:
    other = make_attempt(make_case(1))
    for _ in range(3):
        run_now(attempt)
        run_now(other)
    runs.prune_display_fields(attempt.case)
    assert fields_by_number(other.case) == [True] * 3


def test_prune_display_fields_continues_where_a_worker_died(attempt: Attempt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH", 1)
    for _ in range(3):
        run_now(attempt)

    def die(seconds: float) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(retention.time, "sleep", die)
        with pytest.raises(KeyboardInterrupt):
            runs.prune_display_fields(attempt.case)
    first = attempt.case.runs.get(number=1)
    assert first.fields_dropped_at is not None
    assert [bool(ranking.hits[0][2]) for ranking in first.rankings.order_by("id")] == [False, True]
    assert runs.prune_display_fields(attempt.case) == 1
    assert not with_fields(first)


def test_prune_display_fields_stops_at_a_pin(attempt: Attempt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH", 1)
    for _ in range(3):
        run_now(attempt)
    first = attempt.case.runs.get(number=1)

    def pin(seconds: float) -> None:
        Run.objects.filter(pk=first.pk).update(pinned_at=timezone.now())

    monkeypatch.setattr(retention.time, "sleep", pin)
    assert runs.prune_display_fields(attempt.case) == 1
    assert [bool(ranking.hits[0][2]) for ranking in first.rankings.order_by("id")] == [False, True]
    assert runs.prune_display_fields(attempt.case) == 0


def test_prune_display_fields_few_runs_at_once(attempt: Attempt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "MAX_RUNS", 1)
    for _ in range(4):
        run_now(attempt)
    runs.prune_display_fields(attempt.case)
    assert fields_by_number(attempt.case) == [False, True, True, True]
    assert runs.has_prunable_runs(attempt.case_id)


def test_a_finished_run_prunes_old_display_fields(attempt: Attempt) -> None:
    for _ in range(2):
        run_now(attempt)
    started = runs.start(attempt=attempt, by=attempt.created_by)
    tasks.run_chunk.call(started.pk)
    started.refresh_from_db()
    assert started.status == Run.Status.COMPLETE
    tasks.prune_display_fields.call(attempt.case_id)
    assert fields_by_number(attempt.case) == [False, True, True]


# --- scores of a run without fields ---


def with_script(case: Case) -> ScorerVersion:
    """The case is also scored by a script."""
    scorer = Scorer.objects.create(name="By script")
    version = ScorerVersion.objects.create(scorer=scorer, number=1, script=SCRIPT, scale=[[0, ""], [3, ""]])
    case.case_scorers.create(scorer=scorer, version=version, position=1)
    return version


def test_a_rating_rescores_measures_and_leaves_scripts(attempt: Attempt) -> None:
    case = attempt.case
    version = with_script(case)
    for _ in range(3):
        run_now(attempt)
    runs.prune_display_fields(case)
    run = case.runs.get(number=1)
    before = stored_scores(run)
    rate_all(case, {"q": {"b": 3}}, case.owner)
    rescore(run, query_of(case, "q").pk)
    after = stored_scores(run)
    assert after["nDCG@10", "q"] != before["nDCG@10", "q"]
    assert after["By script", "q"] == before["By script", "q"]
    measure = case.case_scorers.get(position=0).version
    assert scores.count_stale(run, version) == 0
    assert scores.count_stale(run, version, measure) == 0
    assert scores.rescore_run(run) == 0
    assert stored_scores(run) == after


def test_a_script_chosen_later_has_no_score_in_a_run_without_fields(attempt: Attempt) -> None:
    case = attempt.case
    for _ in range(3):
        run_now(attempt)
    runs.prune_display_fields(case)
    with_script(case)
    old, new = case.runs.get(number=1), case.runs.get(number=3)
    scores.rescore_run(old)
    scores.rescore_run(new)
    assert ("By script", "q") not in stored_scores(old)
    assert ("By script", "q") in stored_scores(new)


def test_a_run_that_was_read_before_it_was_marked_is_not_scored_by_scripts(attempt: Attempt) -> None:
    case = attempt.case
    version = with_script(case)
    run_now(attempt)
    stale = case.runs.get(number=1)
    Run.objects.filter(pk=stale.pk).update(fields_dropped_at=timezone.now())
    assert stale.fields_dropped_at is None
    measure = case.case_scorers.get(position=0).version
    assert score_rankings.scoreable_versions(stale, [measure, version]) == [measure]


def test_explanations_go_with_the_fields(attempt: Attempt) -> None:
    for _ in range(3):
        run = run_now(attempt)
        run.rankings.update(explanations={"a": {"score": 1.0, "parts": [], "slices": []}})
    runs.prune_display_fields(attempt.case)
    first, second, third = attempt.case.runs.order_by("number")
    assert set(first.rankings.values_list("explanations", flat=True)) == {None}
    for run in (second, third):
        assert all(run.rankings.values_list("explanations", flat=True))
