"""What docs/scorers.md promises: its measure of one's own works when installed, its scripts run, its lists are complete."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from relevancy import evaluation, scoring
from relevancy.evaluation import Draft
from relevancy.templatetags import numbers
from relevancy.transfer import scorer_file

PAGE = (settings.BASE_DIR / "docs" / "scorers.md").read_text(encoding="utf-8")
LINES = 22  # of the module, blank ones included


def block(language: str) -> str:
    """The page's only code block in a language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


def run(*words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *words], env={**os.environ, **environment}, capture_output=True, text=True, timeout=120
    )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed the package of the page."""
    source, target = tmp_path_factory.mktemp("perfect-measure"), tmp_path_factory.mktemp("installed")
    (source / "perfect_measure.py").write_text(block("python"), encoding="utf-8")
    (source / "pyproject.toml").write_text(block("toml"), encoding="utf-8")
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check")
    done = run("-m", "pip", "install", *options, "--target", str(target), str(source))
    assert done.returncode == 0, done.stderr
    return target


def _try(installed: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    path = f"{installed}{os.pathsep}{settings.BASE_DIR}"
    return run("-m", "relevancy", "try_scorer", *words, "--json", PYTHONPATH=path)


def test_measure_of_the_page_is_short() -> None:
    assert len(block("python").splitlines()) <= LINES


def test_measure_of_the_page_scores_once_installed(installed: Path) -> None:
    done = _try(installed, "--measure", "Perfect@4", "--grades", "3 3 2 -", "--scale", "0:3")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "value": 0.5, "score": 50.0, "low": None, "high": None, "console": [], "error": None,
    }  # fmt: skip


def test_measure_of_the_page_obeys_the_rules_of_all(installed: Path) -> None:
    without_cutoff = _try(installed, "--measure", "Perfect", "--grades", "3")
    assert (without_cutoff.returncode, "needs a cutoff" in without_cutoff.stderr) == (2, True)
    nothing_rated = json.loads(_try(installed, "--measure", "Perfect@4", "--grades", "- -").stdout)
    assert nothing_rated["score"] is None


def test_measure_of_the_page_is_unknown_unless_installed(tmp_path: Path) -> None:
    done = _try(tmp_path, "--measure", "Perfect@4", "--grades", "3")
    assert (done.returncode, "There is no measure 'Perfect'" in done.stderr) == (2, True)


def test_measures_of_the_page_are_all_there_are() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| (?:may|must|–) \| (.*) \|$", PAGE, re.MULTILINE)
    found = {name: [part.split("`")[1] for part in parameters.split("; ") if part] for name, parameters in rows}
    assert found == {
        name: [parameter.name for parameter in definition.parameters]
        for name, definition in scoring.definitions().items()
    }
    for definition in scoring.definitions().values():
        for parameter in definition.parameters:
            assert all(f"`{value}`" in PAGE for value, _ in parameter.choices)


def test_script_reference_of_the_page_is_complete() -> None:
    listed = PAGE.partition("everything a script can call:")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)` \| (.*) \|$", listed, re.MULTILINE)
    assert rows == [(entry.signature, entry.says.replace("|", "\\|")) for entry in evaluation.script_reference()]


def test_script_of_the_page_runs() -> None:
    draft = evaluation.check(Draft(script=block("js"), scale=[[grade, ""] for grade in range(4)]))
    tried = evaluation.try_typed(draft, grades="3 2 - 1")
    assert (tried.error, draft.depth) == ("", 10)
    assert tried.console == ("in stock: false",)
    assert tried.score is not None


def test_file_of_the_page_can_be_read() -> None:
    name, _, draft = scorer_file.read(block("json"))
    assert (name, draft.script, draft.depth) == ("House score", "setScore(avgRating100(10));", None)


def test_comparison_of_the_page_is_what_comes_out() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", PAGE, re.MULTILINE)
    fair = "1 " * 10
    rankings = (("3" + " 0" * 9, fair), ("0 0 0 3" + " 0" * 6, fair), (fair, "3"))
    assert len(rows) == 10
    for measure, *said in rows:
        found = [
            evaluation.try_typed(Draft(measure=measure), grades=grades, known=known, scale="0:3").score
            for grades, known in rankings
        ]
        assert [numbers.score(score) for score in found] == said, measure
