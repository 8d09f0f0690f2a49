"""`evaluate --baseline`: the release gate and its files."""

import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from relevancy import engines
from relevancy.models import Case, Run
from tests.factories import make_attempt, make_case, make_scorer, run_now, script_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script", "data_dir")]
TEXTS = [f"query {number}" for number in range(1, 31)]


def evaluate(case: Case, *words: str) -> tuple[int, dict[str, Any], str]:
    """Returns exit status, JSON (empty if none was printed) and error message."""
    out = io.StringIO()
    status, message = 0, ""
    try:
        call_command("evaluate", str(case.pk), "--json", "-", *words, stdout=out, stderr=io.StringIO())
    except CommandError as error:
        status, message = error.returncode, str(error)
    return status, json.loads(out.getvalue() or "{}"), message


@pytest.fixture
def case() -> Case:
    """P@1 of 30 queries is 100: document a is returned first."""
    case = make_case(TEXTS, {text: {"a": 3} for text in TEXTS}, measures=("P@1",))
    make_attempt(case)
    return case


@pytest.fixture
def baseline(case: Case) -> Run:
    return run_now(case.attempts.get())


def spoil(case: Case, queries: int) -> None:
    """From now on, the engine returns an irrelevant document first for so many queries."""
    script_of(case.attempts.get()).answers = {text: ["x", "a"] for text in TEXTS[:queries]}


def test_gate_passes_without_a_drop(case: Case, baseline: Run) -> None:
    status, evaluation, _ = evaluate(case, "--baseline", str(baseline.pk))
    assert (status, evaluation["passed"]) == (0, True)
    comparison = evaluation["comparison"]
    assert (comparison["baseline"], comparison["number"]) == (baseline.pk, baseline.number)
    assert (comparison["max_drop"], comparison["alpha"]) == (0, 0.05)
    (row,) = comparison["scorers"]
    assert (row["difference"], row["interval"], row["dropped"], row["non_inferior"]) == (0, [0, 0], False, True)


def test_gate_fails_after_a_drop(case: Case, baseline: Run) -> None:
    spoil(case, 15)
    status, evaluation, message = evaluate(case, "--baseline", str(baseline.pk))
    assert (status, evaluation["passed"]) == (1, False)
    (row,) = evaluation["comparison"]["scorers"]
    assert (row["difference"], row["losses"], row["dropped"]) == (-50, 15, True)
    assert (row["score"], row["baseline_score"]) == (50, 100)
    assert len(row["worst"]) == 10
    assert "−50.0 points" in message


def test_gate_allows_a_drop_that_is_not_larger_than_allowed(case: Case, baseline: Run) -> None:
    spoil(case, 15)
    assert evaluate(case, "--baseline", str(baseline.pk), "--max-drop", "50")[0] == 0
    assert evaluate(case, "--baseline", str(baseline.pk), "--max-drop", "49.9")[0] == 1


def test_gate_allows_a_drop_that_may_be_noise(case: Case, baseline: Run) -> None:
    spoil(case, 1)
    status, evaluation, _ = evaluate(case, "--baseline", str(baseline.pk))
    (row,) = evaluation["comparison"]["scorers"]
    assert row["difference"] == pytest.approx(-100 / 30)
    assert row["interval"][0] < 0 <= row["interval"][1]
    assert (status, row["dropped"], row["non_inferior"]) == (0, False, False)


def test_gate_baseline_is_an_attempt(case: Case, baseline: Run) -> None:
    newer = run_now(case.attempts.get())
    failed = run_now(case.attempts.get())
    Run.objects.filter(pk=failed.pk).update(status=Run.Status.INCOMPLETE)
    assert evaluate(case, "--baseline", "attempt:1")[1]["comparison"]["baseline"] == newer.pk


def test_gate_checks_every_scorer(case: Case, baseline: Run) -> None:
    make_scorer("P@2", "second")
    spoil(case, 15)
    evaluation = evaluate(case, "--scorer", "P@1", "--scorer", "second", "--baseline", str(baseline.pk))[1]
    assert [row["dropped"] for row in evaluation["comparison"]["scorers"]] == [True, False]


def test_gate_incomplete_run_never_passes(case: Case, baseline: Run) -> None:
    script_of(case.attempts.get()).answers["query 2"] = engines.BadQuery("No such parser.")
    status, evaluation, _ = evaluate(case, "--baseline", str(baseline.pk))
    assert (status, evaluation["passed"], evaluation["comparison"]) == (2, False, None)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--baseline", "99999999"], "There is no run '99999999'"),
        (["--baseline", "attempt:7"], "no complete run of 'attempt:7'"),
        (["--baseline", "attempt:x"], "no complete run of 'attempt:x'"),
        (["--max-drop", "1"], "Name the run to compare with"),
        (["--baseline", "attempt:1", "--max-drop", "-1"], "between 0 and 100 points"),
        (["--baseline", "attempt:1", "--max-drop", "nan"], "between 0 and 100 points"),
        (["--baseline", "attempt:1", "--alpha", "1"], "between 0 and 1"),
        (["--baseline", "attempt:1", "--junit", "-"], "Only one of"),
    ],
)
def test_gate_mistakes_are_found_before_searching(case: Case, baseline: Run, words: list[str], message: str) -> None:
    status, evaluation, output = evaluate(case, *words)
    assert (status, evaluation) == (2, {})
    assert message in output
    assert case.runs.count() == 1


def test_gate_needs_two_queries_scored_in_both(tmp_path: Path) -> None:
    case = make_case(1, {"query 1": {"a": 3}}, measures=("P@1",))
    make_attempt(case)
    baseline = run_now(case.attempts.get())
    junit = tmp_path / "junit.xml"
    status, evaluation, message = evaluate(case, "--baseline", str(baseline.pk), "--junit", str(junit))
    assert (status, evaluation["passed"], evaluation["comparison"]) == (2, False, None)
    assert "at least two are needed" in message
    assert [failure.text for failure in ElementTree.parse(junit).getroot().iter("error")] == [message]


def test_gate_junit(case: Case, baseline: Run, tmp_path: Path) -> None:
    Case.objects.filter(pk=case.pk).update(name="Shop <\x07&>")
    spoil(case, 15)
    evaluate(case, "--baseline", str(baseline.pk), "--fail-under", "40", "--junit", str(tmp_path / "junit.xml"))
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    cases = suite.findall("testcase")
    assert {element.get("classname") for element in cases} == {"Shop <&>"}
    assert [element.find("failure") is None for element in cases] == [True, True, False]
    assert "−50.0 points" in cases[2].findtext("failure", "")


def test_gate_markdown(case: Case, baseline: Run, tmp_path: Path) -> None:
    case.book.queries.filter(text="query 1").update(text="a|b <script>")
    script_of(case.attempts.get()).answers = dict.fromkeys([*TEXTS[1:15], "a|b <script>"], "x")
    evaluate(case, "--baseline", str(baseline.pk), "--markdown", str(tmp_path / "summary.md"))
    text = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert text.startswith(f"### {case.name}: failed\n")
    assert "| P@1 | 50.0 | 30 of 30 | −50.0 (" in text
    assert r"- a\|b \<script\>: −100.0" in text


def test_gate_files_without_a_baseline(case: Case, tmp_path: Path) -> None:
    assert evaluate(case, "--junit", str(tmp_path / "a.xml"), "--markdown", str(tmp_path / "a.md"))[0] == 0
    assert "### " in (tmp_path / "a.md").read_text()
    assert ElementTree.parse(tmp_path / "a.xml").getroot().get("failures") == "0"


def test_gate_and_compare_agree_that_three_queries_are_too_few_to_tell() -> None:
    """All three lose everything, which has p .250: the gate cannot call it more than noise, however large it is."""
    texts = TEXTS[:3]
    case = make_case(texts, {text: {"a": 3} for text in texts}, measures=("P@1",))
    make_attempt(case)
    baseline = run_now(case.attempts.get())
    spoil(case, 3)
    words = ("--baseline", "attempt:1", "--max-drop", "1")
    status, evaluation, _ = evaluate(case, *words)
    (row,) = evaluation["comparison"]["scorers"]
    assert (status, row["difference"], row["p_randomisation"]) == (0, pytest.approx(-100), 0.25)
    assert row["interval"] == [pytest.approx(-100), 0]
    assert (row["dropped"], row["non_inferior"], row["too_few"]) == (False, False, True)
    out = io.StringIO()
    call_command("compare", str(baseline.pk), str(evaluation["run"]), stdout=out, stderr=io.StringIO())
    assert "Too few queries to tell" in out.getvalue()
    out = io.StringIO()
    call_command("evaluate", str(case.pk), "--baseline", str(baseline.pk), stdout=out)
    assert "too few queries to tell" in out.getvalue() and "passes without --strict" in out.getvalue()
    status, evaluation, message = evaluate(case, "--baseline", str(baseline.pk), "--strict")
    assert (status, evaluation["passed"]) == (1, False)
    assert "too few queries to tell" in message


@pytest.mark.parametrize(("worse", "dropped"), [(5, False), (6, True)])
def test_gate_and_compare_decide_by_the_same_p(case: Case, baseline: Run, worse: int, dropped: bool) -> None:
    """Of 30 queries that can only lose, five have a p of about 2/32 and six of about 2/64."""
    spoil(case, worse)
    status, evaluation, _ = evaluate(case, "--baseline", str(baseline.pk))
    (row,) = evaluation["comparison"]["scorers"]
    assert (row["p_randomisation"] < 0.05, row["interval"][1] < 0, row["dropped"], status == 1) == (dropped,) * 4


def test_gate_strict_needs_a_baseline(case: Case) -> None:
    status, _, message = evaluate(case, "--strict")
    assert (status, "Name the run to compare with" in message) == (2, True)
