"""Studies by the API and by the command `tune`."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from relevancy.models import Attempt, Case
from relevancy.optional.studies.models import Study
from tests.factories import make_user, script_of

from .conftest import KNOBS, QUERIES, TEXTS, make_text_attempt

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.fixture
def client(api: Any, attempt: Attempt) -> Any:
    return api(attempt.case.owner)


def test_a_study_is_planned_started_read_and_adopted(client: Any, attempt: Attempt) -> None:
    case = attempt.case
    new = {"attempt": attempt.number, "knobs": KNOBS, "trials": 30}
    plan = client.send("POST", f"/cases/{case.pk}/studies/plan", new).json()
    assert (plan["queries"], plan["requests"], plan["unchanging"]) == (QUERIES, 30 * QUERIES, [])
    assert script_of(attempt).requests == []
    started = client.send("POST", f"/cases/{case.pk}/studies", new)
    assert started.status_code == 201, started.json()
    study = client.send("GET", f"/studies/{started.json()['id']}").json()
    assert (study["status"], study["trials_done"], study["is_improvement"]) == ("complete", 30, True)
    assert study["knobs"] == KNOBS
    assert study["findings"]["gain"] > 0
    assert set(study["proposed_settings"]) == {"boost", "tie"}
    assert [item["number"] for item in client.items(f"/studies/{study['id']}/trials")] == list(range(30))
    adopted = client.send("POST", f"/studies/{study['id']}/adopt", {}).json()
    assert case.attempts.get(number=adopted["attempt"]).knobs == study["proposed_settings"]
    assert [item["number"] for item in client.items(f"/cases/{case.pk}/studies")] == [1]
    assert client.send("DELETE", f"/studies/{study['id']}").status_code == 204


def test_a_study_chooses_between_texts(api: Any, case: Case) -> None:
    client, attempt = api(case.owner), make_text_attempt(case)
    new = {"attempt": attempt.number, "knobs": [TEXTS], "trials": 30}
    study = client.send("POST", f"/cases/{case.pk}/studies", new).json()
    study = client.send("GET", f"/studies/{study['id']}").json()
    assert (study["knobs"], study["trials_done"]) == ([TEXTS], 4)
    assert (study["parent_settings"], study["proposed_settings"]) == ({"mm": "2<75%"}, {"mm": "100%"})
    trials = client.items(f"/studies/{study['id']}/trials")
    assert [trial["settings"]["mm"] for trial in trials] == ["2<75%", "2<75%", "100%", 3]
    assert 2 * QUERIES < study["requests"] <= 3 * QUERIES  # the parent's are not sent again
    adopted = client.send("POST", f"/studies/{study['id']}/adopt", {}).json()
    assert case.attempts.get(number=adopted["attempt"]).knobs == {"boost": 0.5, "mm": "100%"}


@pytest.mark.parametrize(
    ("knob", "problem"),
    [
        ("mm=75%,100%", "mm=2<75%,75%,100%"),
        ("mm=1,2", "mm=2<75%,1,2"),
        ("mm=0:100", "mm=2<75%,…"),
        ("boost=a,b", "Knob boost is 0.5 in attempt 1"),
        (f"mm=2<75%,{'x' * 501}", "501 characters"),
        ("mm=2<75%,a\x00", "U+0000"),
    ],
)
def test_texts_that_cannot_be_studied_are_refused(api: Any, case: Case, knob: str, problem: str) -> None:
    attempt = make_text_attempt(case)
    new = {"attempt": attempt.number, "knobs": [knob], "trials": 30}
    response = api(case.owner).send("POST", f"/cases/{case.pk}/studies", new)
    assert response.status_code == 422
    assert problem in str(response.json())


def test_the_command_prints_texts(case: Case) -> None:
    make_text_attempt(case)
    out = StringIO()
    call_command("tune", str(case.pk), "--knob", TEXTS, stdout=out, stderr=StringIO())
    assert "  mm: 2<75% → 100%" in out.getvalue()


def test_a_study_without_anything_left_to_do_goes_on_with_more_trials_only(client: Any, attempt: Attempt) -> None:
    new = {"attempt": attempt.number, "knobs": KNOBS, "trials": 30, "max_requests": 200}
    started = client.send("POST", f"/cases/{attempt.case_id}/studies", new).json()
    path = f"/studies/{started['id']}/continue"
    refused = client.send("POST", path, {})
    assert refused.status_code == 422
    assert "The budget of 200 requests is used" in refused.json()["detail"]
    made = client.send("GET", f"/studies/{started['id']}").json()["trials_done"]
    assert client.send("POST", path, {"more_trials": 3}).json()["trials_done"] == made + 3


@pytest.mark.parametrize(
    "changes", [{"knobs": ["tie"]}, {"knobs": ["speed=0:1"]}, {"scorer": "None such"}, {"trials": 1}, {"knobs": []}]
)
def test_what_cannot_be_studied_is_refused(client: Any, attempt: Attempt, changes: dict[str, Any]) -> None:
    new = {"attempt": attempt.number, "knobs": KNOBS, **changes}
    assert client.send("POST", f"/cases/{attempt.case_id}/studies", new).status_code == 422
    assert not Study.objects.exists()


def test_others_see_nothing_of_a_study(api: Any, client: Any, attempt: Attempt) -> None:
    started = client.send(
        "POST", f"/cases/{attempt.case_id}/studies", {"attempt": 1, "knobs": KNOBS, "trials": 5}
    ).json()
    stranger = api(make_user())
    for method, path in (("GET", ""), ("GET", "/trials"), ("POST", "/stop"), ("DELETE", "")):
        assert stranger.send(method, f"/studies/{started['id']}{path}").status_code == 404


def test_the_command_prints_what_is_gain_and_what_is_luck(attempt: Attempt) -> None:
    out = StringIO()
    knobs = [word for knob in KNOBS for word in ("--knob", knob)]
    call_command("tune", str(attempt.case_id), *knobs, "--trials", "30", "--adopt", stdout=out, stderr=StringIO())
    printed = out.getvalue()
    assert f"30 trials of {QUERIES} queries" in printed
    assert "Better than attempt 1: +" in printed
    assert " → " in printed
    assert attempt.case.attempts.count() == 2
    out = StringIO()
    call_command("tune", str(attempt.case_id), *knobs, "--trials", "5", "--json", "-", stdout=out, stderr=StringIO())
    found = json.loads(out.getvalue())
    assert (found["trials_done"], found["seed"]) == (5, 20261122)


def test_the_command_only_plans(attempt: Attempt) -> None:
    out = StringIO()
    call_command("tune", str(attempt.case_id), "--knob", "tie=0:1", "--plan", stdout=out)
    assert "find a difference of about 11 points or more" in out.getvalue()
    assert not Study.objects.exists()


@pytest.mark.parametrize(
    "words", [["--knob", "tie"], ["--knob", "tie=0:1", "--guard", "x"], ["--knob", "tie=0:1", "--attempt", "9"]]
)
def test_mistakes_on_the_command_line(attempt: Attempt, words: list[str]) -> None:
    with pytest.raises(CommandError):
        call_command("tune", str(attempt.case_id), *words, stdout=StringIO())
