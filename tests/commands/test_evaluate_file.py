"""`evaluate case.json --url ADDRESS`: the release gate without a server, and its sample in `examples/release-gate`."""

import io
import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from django.conf import settings as django_settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from relevancy import engines
from relevancy.formats import parse_case
from relevancy.formats.cases import case_import
from relevancy.formats.relevancy import writer
from relevancy.management.temporary_site import temporary_site
from relevancy.models import Case, Endpoint, Scorer, User
from tests.factories import SCRIPT, Scripted
from tests.formats import relevancy_files

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script", "data_dir")]
SAMPLE = Path(__file__).parents[2] / "examples" / "release-gate"
GATE = ("--baseline", "1", "--max-drop", "1", "--fail-under", "70")
COMMAND = re.compile(r"relevancy evaluate case\.json --url (\w+\.csv) ([^#\n]*(?:\n {10}--[^#\n]*)*)")


def evaluate(*words: str) -> tuple[int, dict[str, Any], str]:
    """Returns exit status, JSON (empty if none was printed) and error message."""
    out = io.StringIO()
    status, message = 0, ""
    try:
        call_command("evaluate", *words, "--json", "-", stdout=out, stderr=io.StringIO())
    except CommandError as error:
        status, message = error.returncode, str(error)
    return status, json.loads(out.getvalue() or "{}"), message


def run_without_settings(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs a command in an empty folder, without settings and without a home."""
    return subprocess.run(
        [sys.executable, "-m", "relevancy", *words],
        cwd=folder,
        env={
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "HOME": str(folder),
            "RELEVANCY_ENV_FILE": str(folder / "none"),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def evaluate_sample(rankings: Path, *words: str) -> tuple[int, dict[str, Any], str]:
    return evaluate(str(SAMPLE / "case.json"), "--url", str(rankings), *words)


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "case.json"
    file.write_text(json.dumps(relevancy_files.CASE))
    SCRIPT["shop"] = Scripted(default=("a", "b"))
    return str(file)


def test_the_gate_of_the_sample_passes_while_a_drop_may_be_noise():
    status, evaluation, message = evaluate_sample(SAMPLE / "candidate.csv", *GATE)
    (row,) = evaluation["comparison"]["scorers"]
    assert (status, message, evaluation["passed"], evaluation["complete"]) == (0, "", True, True)
    assert (row["queries"], row["dropped"]) == (24, False)
    assert row["difference"] < 0


def test_the_gate_of_the_sample_fails_for_a_drop_and_for_a_low_score(tmp_path):
    report = tmp_path / "relevancy.xml"
    status, evaluation, message = evaluate_sample(SAMPLE / "worse.csv", *GATE, "--junit", str(report))
    (row,) = evaluation["comparison"]["scorers"]
    assert (status, evaluation["passed"], row["dropped"]) == (1, False, True)
    assert "less than 70" in message and "not noise" in message
    suite = ElementTree.parse(report).getroot()
    assert [case.find("failure") is not None for case in suite.iter("testcase")] == [False, True, True]


def test_the_commands_of_the_sample_are_those_that_are_tested():
    """Those of its job and of its instructions: with the same limits, and the exit status that they promise."""
    job, passing, failing = (
        (match[1], tuple(match[2].split()))
        for name in ("gate.yml", "README.md")
        for match in COMMAND.finditer((SAMPLE / name).read_text(encoding="utf-8"))
    )
    assert job == ("candidate.csv", (*GATE, "--junit", "relevancy.xml", "--markdown", "summary.md"))
    assert (passing, failing) == (("candidate.csv", GATE), ("worse.csv", GATE))
    wheel = re.findall(r"relevancy-(\S+)-py3-none-any\.whl", (SAMPLE / "gate.yml").read_text(encoding="utf-8"))
    assert wheel == [metadata.version("relevancy")]


def test_a_larger_allowed_drop_lets_the_sample_pass():
    assert evaluate_sample(SAMPLE / "worse.csv", "--baseline", "1", "--max-drop", "60")[0] == 0


def test_the_sample_is_as_it_is_exported():
    content = (SAMPLE / "case.json").read_bytes()
    with temporary_site() as owner:
        plan = case_import.plan_case(content=parse_case(io.BytesIO(content)), by=owner)
        case = case_import.import_case(plan=plan, by=owner, endpoint=None)
        with io.BytesIO("".join(writer.export_case(case=case, by=owner)).encode()) as file:
            assert file.read() == content


def test_a_file_with_some_of_the_queries_is_not_scored_as_if_the_others_had_found_nothing(tmp_path):
    lines = (SAMPLE / "candidate.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    rankings, junit = tmp_path / "few.csv", tmp_path / "relevancy.xml"
    texts = list(dict.fromkeys(line.partition(",")[0] for line in lines[1:]))
    rankings.write_text(lines[0] + "".join(line for line in lines if line.partition(",")[0] in texts[:4]))
    status, evaluation, message = evaluate_sample(rankings, *GATE, "--junit", str(junit))
    (result,) = evaluation["scorers"]
    assert (status, evaluation["complete"], result["scored"], result["queries"]) == (2, False, 4, 24)
    assert "20 of 24 searches failed" in message
    assert [text for text in texts if f"“{text}”" in message.partition("Failed:")[2]] == texts[4:]
    assert {text for text, query in result["per_query"].items() if query["error"]} == set(texts[4:])
    assert [element.text for element in ElementTree.parse(junit).iter("error")] == [message]


def test_a_file_that_is_missing_is_an_error_of_the_junit_file(tmp_path):
    case, junit = tmp_path / "missing.json", tmp_path / "relevancy.xml"
    status, _, message = evaluate(str(case), "--url", str(SAMPLE / "worse.csv"), "--junit", str(junit))
    suite = ElementTree.parse(junit).getroot()
    assert (status, suite.get("tests"), suite.get("errors"), suite.get("failures")) == (2, "1", "1", "0")
    assert [element.text for element in suite.iter("error")] == [message]
    assert message == f"{case} cannot be read: No such file or directory."


def test_the_command_needs_no_settings_and_leaves_no_files(tmp_path):
    words = ["evaluate", str(SAMPLE / "case.json"), f"--url={SAMPLE / 'worse.csv'}", *GATE]
    done = run_without_settings(tmp_path, *words)
    assert done.returncode == 1, done.stderr
    assert "62.9" in done.stdout and "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (("try_scorer", "--measure", "nDCG@3", "--grades", "3 2 - 1"), "nDCG@3: score 94.7, value 0.946768"),
        (("measure", "--qrels", "QRELS", "--run", "RUN", "-m", "P@1"), "1.0000  1 of 1 scored"),
    ],
)
def test_measures_are_computed_without_settings_and_leave_no_files(tmp_path, words, printed):
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "QRELS").write_text("1 0 a 1\n")
    (tmp_path / "files" / "RUN").write_text("1 Q0 a 1 1 x\n")
    (tmp_path / "home").mkdir()
    words = [str(tmp_path / "files" / word) if word in {"QRELS", "RUN"} else word for word in words]
    done = run_without_settings(tmp_path / "home", *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert printed in done.stdout
    assert list((tmp_path / "home").iterdir()) == []


def test_a_saved_scorer_needs_settings(tmp_path):
    done = run_without_settings(tmp_path, "try_scorer", "--scorer", "CG@10", "--grades", "3")
    assert done.returncode == 2
    assert "RELEVANCY_SECRET_KEY is not set" in done.stderr


def test_a_file_is_evaluated_without_touching_the_site(path):
    data_dir = django_settings.DATA_DIR
    before = Scorer.objects.count()
    status, evaluation, _ = evaluate(path, "--url", "shop")
    assert (status, evaluation["attempt"], evaluation["number"]) == (0, 2, 5)
    assert evaluation["scorers"][0]["per_query"]["phone"]["score"] is not None
    assert not Case.objects.exists() and not Endpoint.objects.exists() and not User.objects.exists()
    assert Scorer.objects.count() == before
    assert data_dir == django_settings.DATA_DIR and connection.vendor in {"sqlite", "postgresql"}


def test_a_failed_search_never_passes(path):
    SCRIPT["shop"] = Scripted(answers={"case": engines.EngineError("The index is closed.")})
    status, evaluation, message = evaluate(path, "--url", "shop")
    assert (status, evaluation["passed"], evaluation["complete"]) == (2, False, False)
    assert message


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--url", "shop", "--baseline", "9"), "The file has no run '9'. Its pinned runs: 4."),
        (("--url", "shop", "--attempt", "7"), "has no attempt 7"),
        (("--url", "shop", "--scorer", "P@1"), "There is no scorer 'P@1'"),
        (("--url", "shop", "--owner", "a@example.com"), "--owner is for cases of a site"),
        (("--url", "shop", "--option", "password"), "does not have the form KEY=VALUE"),
        (("--option", "a=b"), "--option describes the endpoint at --url"),
    ],
)
def test_what_cannot_be_evaluated_has_status_2(path, words, message):
    status, _, text = evaluate(path, *words)
    assert status == 2 and message in text


def test_a_bad_file_has_status_2_and_its_location(path):
    content = {**relevancy_files.CASE, "ratings": [{"query": "phone", "document": "a", "rater": "Ann", "rating": 9}]}
    Path(path).write_text(json.dumps(content))
    status, _, text = evaluate(path, "--url", "shop")
    assert status == 2 and "ratings[1].rating: 9 is not on the scale" in text
