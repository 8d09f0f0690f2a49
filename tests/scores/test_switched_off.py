"""Scripts that are switched off for the rest of a run, because they were stopped for too many of its queries."""

from collections.abc import Sequence
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from relevancy import ratings, sandbox, scorers, scores
from relevancy.models import Case, QueryScore, Run, ScorerVersion
from relevancy.runs import chunks
from relevancy.scores.scripts import MAX_STOPS, count_stops
from tests.factories import make_attempt, make_case, make_scorer, query_of, run_now

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


class Sandbox:
    """Stops the script for every query whose text is in `evil`, until it is switched off; scores the others 40."""

    def __init__(self) -> None:
        self.evil: set[str] = set()
        self.texts: list[str] = []

    def score(self, script: str, queries: Sequence[Any], *, limits: sandbox.Limits, **options: Any) -> list[Any]:
        outcomes: list[sandbox.Outcome] = []
        for query in queries:
            if sum(bool(outcome.stopped) for outcome in outcomes) >= limits.stops:
                outcomes.append(sandbox.Outcome(None, "switched off", stopped="off"))
                continue
            self.texts.append(query.text)
            is_evil = query.text in self.evil
            outcomes.append(sandbox.Outcome(None, "late", stopped="time") if is_evil else sandbox.Outcome(40.0))
        return outcomes


@pytest.fixture
def box(monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    box = Sandbox()
    monkeypatch.setattr(sandbox, "score", box.score)
    return box


def make_scripted_case(count: int) -> Case:
    case = make_case(count, {f"query {number}": {"a": 3} for number in range(1, count + 1)})
    scorers.choose_scorers(case=case, scorers=[make_scorer("", "Endless", script="setScore(40);")])
    return case


def kinds(run: Run) -> list[str]:
    return list(run.query_scores.order_by("query").values_list("error_kind", flat=True))


def version_of(case: Case) -> ScorerVersion:
    return ScorerVersion.objects.used_by(case)[0]


def test_stops_add_up_over_the_writes_of_a_run(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "MAX_UNWRITTEN", 2)
    case = make_scripted_case(8)
    box.evil = {f"query {number}" for number in range(2, 9)}
    run = run_now(make_attempt(case))
    assert kinds(run) == ["", "time", "time", "time", "off", "off", "off", "off"]
    assert box.texts == ["query 1", "query 2", "query 3", "query 4"]
    assert count_stops(run, [version_of(case)]) == {version_of(case).pk: 7}
    (off,) = scores.switched_off_scorers(run, [version_of(case)])
    assert (off.version, off.unscored) == (version_of(case), 4)
    score = run.case_scores.get()
    assert (score.score, score.scored, score.failed) == (40, 1, 7)


def test_a_script_that_was_stopped_less_often_goes_on(box: Sandbox) -> None:
    case = make_scripted_case(5)
    box.evil = {"query 1", "query 2"}
    run = run_now(make_attempt(case))
    assert kinds(run) == ["time", "time", "", "", ""]
    assert scores.switched_off_scorers(run, [version_of(case)]) == []


def test_another_run_begins_with_the_script_switched_on(box: Sandbox) -> None:
    case = make_scripted_case(5)
    box.evil = {"query 1", "query 2", "query 3"}
    attempt = make_attempt(case)
    assert kinds(run_now(attempt))[3:] == ["off", "off"]
    box.evil = set()
    assert kinds(run_now(attempt)) == [""] * 5


def test_a_query_rated_later_is_not_run_under_a_script_that_is_off_until_all_are_scored_again(box: Sandbox) -> None:
    case = make_scripted_case(5)
    box.evil = {"query 1", "query 2", "query 3"}
    run = run_now(make_attempt(case))
    box.evil, box.texts = set(), []
    ratings.rate(query=query_of(case, "query 1"), doc_id="b", value=1, by=case.owner)
    scores.rescore_run(run)
    assert kinds(run) == ["off", "time", "time", "off", "off"]
    assert box.texts == []
    assert scores.forget_failed(run, seconds=60)
    scores.rescore_run(run)
    assert kinds(run) == [""] * 5
    assert run.case_scores.get().score == 40
    assert len(box.texts) == 5


def test_scored_again_it_is_switched_off_again_after_as_many_stops(box: Sandbox) -> None:
    case = make_scripted_case(6)
    box.evil = {f"query {number}" for number in range(1, 7)}
    run = run_now(make_attempt(case))
    box.texts = []
    assert scores.forget_failed(run, seconds=60)
    scores.rescore_run(run)
    assert len(box.texts) == MAX_STOPS
    assert kinds(run).count("off") == 3


def test_measures_are_not_asked_about_and_cost_no_statement(box: Sandbox) -> None:
    case = make_case(1, {"query 1": {"a": 3}})
    run = run_now(make_attempt(case))
    versions = [version_of(case)]
    with CaptureQueriesContext(connection) as captured:
        assert scores.switched_off_scorers(run, versions) == []
        assert count_stops(run, versions) == {}
    assert len(captured) == 0
    assert not QueryScore.objects.exclude(error_kind="").exists()
