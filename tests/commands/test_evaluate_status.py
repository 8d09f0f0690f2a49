"""`evaluate`: what `--json` says about success, and the exit status."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest
from django.core.management import call_command, load_command_class
from django.core.management.base import CommandError

from relevancy import engines
from relevancy.formats.ratings import trec
from relevancy.management import commands as commands_package
from relevancy.management.command import Command
from relevancy.models import Attempt, Case, Endpoint, ScorerVersion
from relevancy.scores import scripts
from tests.factories import make_attempt, make_case, make_scorer, run_now, script_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script", "data_dir")]


def evaluate(case: Case, *words: str) -> tuple[int, dict[str, Any], str]:
    """Returns exit status, JSON (empty if none was printed) and error message."""
    out = io.StringIO()
    status, message = 0, ""
    try:
        call_command("evaluate", str(case.pk), "--json", "-", *words, stdout=out, stderr=io.StringIO())
    except CommandError as error:
        status, message = error.returncode, str(error)
    assert "\n" not in message
    return status, json.loads(out.getvalue() or "{}"), message


@pytest.fixture
def case() -> Case:
    """Documents a, b and c are returned; nDCG@10 is 100 for query 1 and 63.1 for query 2, 81.5 on average."""
    case = make_case(2, {"query 1": {"a": 3}, "query 2": {"b": 3}})
    make_attempt(case)
    return case


def test_evaluate_passes(case: Case) -> None:
    status, evaluation, _ = evaluate(case)
    assert (status, evaluation["passed"], evaluation["complete"], evaluation["comparison"]) == (0, True, True, None)


def test_evaluate_run_is_the_id_that_export_run_takes(case: Case) -> None:
    other = make_case(1)
    run_now(make_attempt(other))
    run_now(make_attempt(other))
    _, evaluation, _ = evaluate(case)
    run = case.runs.get()
    assert (evaluation["run"], evaluation["number"]) == (run.pk, 1)
    assert run.pk != 1
    out = io.StringIO()
    call_command("export_run", str(evaluation["run"]), stdout=out)
    assert out.getvalue() == "".join(trec.export_run(run=run))


def test_evaluate_failed_search_does_not_pass(case: Case) -> None:
    script_of(case.attempts.get()).answers["query 2"] = engines.BadQuery("No such parser.")
    status, evaluation, _ = evaluate(case)
    assert (status, evaluation["passed"], evaluation["complete"]) == (2, False, False)


def test_evaluate_failed_script_does_not_pass(case: Case) -> None:
    make_scorer("", "broken", script="missing();")
    status, evaluation, _ = evaluate(case, "--scorer", "broken")
    assert (status, evaluation["passed"], evaluation["complete"]) == (2, False, True)


def test_evaluate_says_that_a_script_was_switched_off(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "MAX_STOPS", 1)
    make_scorer("", "endless", script="for (;;);")
    status, evaluation, message = evaluate(case, "--scorer", "endless")
    assert (status, evaluation["passed"]) == (2, False)
    count = case.case_queries.count()
    assert count > 1
    assert f"endless was switched off for the rest of run 1: {count - 1} not scored" in message


@pytest.mark.parametrize(("minimum", "expected"), [("81", 0), ("82", 1), ("100", 1), ("0", 0)])
def test_evaluate_fail_under(case: Case, minimum: str, expected: int) -> None:
    status, evaluation, message = evaluate(case, "--fail-under", minimum)
    assert (status, evaluation["passed"]) == (expected, expected == 0)
    assert ("nDCG@10 is 81.5" in message) == (expected == 1)


def test_evaluate_fail_under_applies_to_every_scorer(case: Case) -> None:
    status, _, message = evaluate(case, "--scorer", "nDCG@10", "--scorer", "RR@10", "--fail-under", "80")
    assert (status, message) == (1, "RR@10 is 75, less than 80.")


def test_evaluate_fail_under_without_a_score(case: Case) -> None:
    case.book.queries.get(text="query 1").ratings.all().delete()
    case.book.queries.get(text="query 2").ratings.all().delete()
    status, evaluation, message = evaluate(case, "--fail-under", "0")
    assert (status, evaluation["passed"], evaluation["scorers"][0]["score"]) == (1, False, None)
    assert message.startswith("nDCG@10 has no score")


def test_evaluate_failed_search_comes_before_fail_under(case: Case) -> None:
    script_of(case.attempts.get()).answers["query 2"] = engines.BadQuery("No such parser.")
    assert evaluate(case, "--fail-under", "100")[0] == 2


def test_evaluate_measure_of_an_uninstalled_package(case: Case) -> None:
    ScorerVersion.objects.filter(pk=case.case_scorers.get().version_id).update(measure="Gone@10")
    status, _, message = evaluate(case)
    assert status == 2
    assert "'Gone'" in message


def test_evaluate_engine_of_an_uninstalled_package(case: Case) -> None:
    Endpoint.objects.filter(pk__in=Attempt.objects.filter(case=case).values("endpoint")).update(engine="gone")
    status, _, message = evaluate(case)
    assert status == 2
    assert "gone" in message


def test_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    """As in `relevancy measure … | head -1`."""
    (tmp_path / "qrels").write_text("".join(f"{query} 0 a 1\n" for query in range(20_000)))
    (tmp_path / "run").write_text("".join(f"{query} Q0 a 1 1 x\n" for query in range(20_000)))
    files = ["--qrels", str(tmp_path / "qrels"), "--run", str(tmp_path / "run"), "-m", "RR", "--per-query"]
    process = subprocess.Popen(
        [sys.executable, "-m", "relevancy", "measure", *files],
        env=dict(os.environ),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline().startswith("RR")
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(timeout=60), errors) == (141, "")


def test_every_command_ends_like_that() -> None:
    commands = [load_command_class("relevancy", info.name) for info in iter_modules(commands_package.__path__)]
    assert len(commands) > 20
    assert all(isinstance(command, Command) and type(command).handle is Command.handle for command in commands)
