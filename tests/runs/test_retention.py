"""Displayed fields of old runs are deleted; scores, ids and pinned runs stay."""

from itertools import count
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from relevancy import cases, runs, scores, tasks
from relevancy.models import Attempt, Case, Document, Ranking, Run, Scorer, ScorerVersion, write_queue
from relevancy.runs import retention
from relevancy.scores import score_rankings
from tests.factories import make_attempt, make_case, query_of, rate_all, rescore, run_now, set_hits, stored_scores

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
SCRIPT = "setScore(docs[0].id === 'a' ? 100 : 10);"


@pytest.fixture(autouse=True)
def quick(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.KEEP_FIELDS_RUNS = 2
    monkeypatch.setattr(write_queue, "PAUSE_SECONDS", 0)


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


def run_with_own_fields(attempt: Attempt) -> Run:
    """A run that returned versions of three documents that no other run has."""
    run = run_now(attempt)
    hits = [[doc_id, score, {"id": doc_id, "run": run.pk}] for doc_id, score in (("a", 3.0), ("b", 2.0), ("c", 1.0))]
    set_hits(run.rankings.all(), hits)
    return run


def test_prune_display_fields_of_runs_beyond_the_newest(attempt: Attempt) -> None:
    case = attempt.case
    for _ in range(4):
        run_with_own_fields(attempt)
    before = stored_scores(case.runs.get(number=1))
    assert runs.has_prunable_runs(case.pk)
    assert runs.prune_display_fields(case) == 6
    assert fields_by_number(case) == [False, False, True, True]
    assert [run.fields_dropped_at is not None for run in case.runs.order_by("number")] == [True, True, False, False]
    assert not runs.has_prunable_runs(case.pk)
    ranking = case.runs.get(number=1).rankings.get(query__text="q")
    assert ranking.hits == [["a", 3.0, {}], ["b", 2.0, {}], ["c", 1.0, {}]]
    assert ranking.returned == 3
    assert stored_scores(case.runs.get(number=1)) == before
    assert runs.prune_display_fields(case) == 0


def test_a_marked_run_displays_what_a_newer_one_keeps(attempt: Attempt) -> None:
    for _ in range(3):
        run_now(attempt)
    assert runs.prune_display_fields(attempt.case) == 0
    assert fields_by_number(attempt.case) == [True] * 3
    assert attempt.case.runs.get(number=1).fields_dropped_at is not None
    assert Document.objects.count() == 3


def test_prune_display_fields_deletes_snippets_too(attempt: Attempt) -> None:
    all_runs = [run_with_own_fields(attempt) for _ in range(3)]
    for run in all_runs:
        set_hits(run.rankings.all(), [["a", 1.0, {}, {"title": "\ue000a\ue001"}]])
    runs.prune_display_fields(attempt.case)
    snippets = [ranking.hits[0][3:] for run in all_runs for ranking in run.rankings.all()]
    assert [bool(snippet) for snippet in snippets] == [False, False, True, True, True, True]


def test_prune_display_fields_keeps_pinned_and_active_runs(attempt: Attempt) -> None:
    all_runs = [run_with_own_fields(attempt) for _ in range(4)]
    Run.objects.filter(pk=all_runs[0].pk).update(pinned_at=timezone.now())
    Run.objects.filter(pk=all_runs[1].pk).update(status=Run.Status.RUNNING)
    assert not runs.has_prunable_runs(attempt.case_id)
    assert runs.prune_display_fields(attempt.case) == 0
    assert fields_by_number(attempt.case) == [True] * 4


def test_prune_display_fields_leaves_other_cases_alone(attempt: Attempt) -> None:
    other = make_attempt(make_case(1, owner=attempt.case.owner), attempt.endpoint)
    for _ in range(3):
        run_with_own_fields(attempt)
        run_with_own_fields(other)
    runs.prune_display_fields(attempt.case)
    assert fields_by_number(other.case) == [True] * 3


def test_prune_display_fields_continues_where_a_worker_died(attempt: Attempt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH", 1)
    for _ in range(3):
        run_with_own_fields(attempt)

    pauses = count(1)

    def die() -> None:
        if next(pauses) == 5:  # after three unused documents and two without a run that displays them
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(retention, "write_pause", die)
        with pytest.raises(KeyboardInterrupt):
            runs.prune_display_fields(attempt.case)
    first = attempt.case.runs.get(number=1)
    assert first.fields_dropped_at is not None
    assert runs.prune_display_fields(attempt.case) == 1
    assert fields_by_number(attempt.case) == [False, True, True]


def test_a_run_that_is_pinned_meanwhile_keeps_its_fields(attempt: Attempt) -> None:
    for _ in range(3):
        run_with_own_fields(attempt)
    Run.objects.filter(number=1).update(fields_dropped_at=timezone.now(), pinned_at=timezone.now())
    assert runs.prune_display_fields(attempt.case) == 0
    assert fields_by_number(attempt.case) == [True] * 3


def test_documents_that_a_run_returns_meanwhile_keep_their_fields(
    attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "BATCH", 1)
    old, _, new = [run_with_own_fields(attempt) for _ in range(3)]
    kept = [["c", 1.0, {"id": "c", "run": old.pk}]]

    def search_again() -> None:
        query_id = new.rankings.order_by("pk").values_list("query_id", flat=True)[0]
        new.rankings.filter(query=query_id).delete()
        with transaction.atomic():
            again = Ranking.with_hits(kept, run=new, query_id=query_id)
            Ranking.objects.store([again], endpoint=attempt.endpoint_id)

    monkeypatch.setattr(retention, "write_pause", search_again)
    runs.prune_display_fields(attempt.case)
    assert kept in [ranking.hits for ranking in new.rankings.all()]
    assert {ranking.hits[0][0]: ranking.hits[0][2] for ranking in old.rankings.all()} == {"a": {}}


def test_deleting_a_case_deletes_its_documents(attempt: Attempt) -> None:
    other = make_attempt(make_case(1, owner=attempt.case.owner), attempt.endpoint)
    run_with_own_fields(attempt)
    run_with_own_fields(other)
    cases.delete(case=attempt.case, by=attempt.case.owner)
    assert fields_by_number(other.case) == [True]
    assert Document.objects.count() == 3


def test_a_finished_run_prunes_old_display_fields(attempt: Attempt) -> None:
    for _ in range(2):
        run_with_own_fields(attempt)
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
        run.rankings.update(explanations='{"a": {"score": 1.0, "parts": [], "slices": []}}')
    runs.prune_display_fields(attempt.case)
    first, second, third = attempt.case.runs.order_by("number")
    assert set(first.rankings.values_list("explanations", flat=True)) == {""}
    for run in (second, third):
        assert all(run.rankings.values_list("explanations", flat=True))
