"""The example package with a measure works once it is installed, and docs/writing-a-measure.md shows it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

EXAMPLE = settings.BASE_DIR / "examples" / "relevancy-own-measure"
PAGE = settings.BASE_DIR / "docs" / "writing-a-measure.md"


def run_python(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *arguments], env={**os.environ, **environment}, capture_output=True, text=True, timeout=120
    )


def run_command(site: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """A command of Relevancy with a folder of installed packages on the path."""
    return run_python("-m", "relevancy", *arguments, PYTHONPATH=f"{site}{os.pathsep}{settings.BASE_DIR}")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which pip has installed the example."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    for path in EXAMPLE.glob("*.*"):
        (source / path.name).write_bytes(path.read_bytes())
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check")
    result = run_python("-m", "pip", "install", *options, "--target", str(target), str(source))
    assert result.returncode == 0, result.stderr
    return target


def write_distribution(folder: Path, entry_point: str) -> None:
    """The metadata of an installed package with one measure."""
    metadata = folder / "other_package-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: other-package\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(f"[relevancy.measures]\nother = {entry_point}\n", encoding="utf-8")


def test_installed_measure_scores(installed: Path) -> None:
    arguments = ("try_scorer", "--measure", "Perfect@4", "--grades", "3 3 2 -", "--scale", "0:3", "--json")
    result = run_command(installed, *arguments)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == {
        "value": 0.5, "score": 50.0, "low": 50.0, "high": 75.0, "console": [], "error": None,
    }  # fmt: skip


def test_installed_measure_follows_the_rules_for_all_measures(installed: Path) -> None:
    without_cutoff = run_command(installed, "try_scorer", "--measure", "Perfect", "--grades", "3")
    assert (without_cutoff.returncode, "needs a cutoff" in without_cutoff.stderr) == (2, True)
    unrated = run_command(installed, "try_scorer", "--measure", "Perfect@4", "--grades", "- -", "--json")
    assert json.loads(unrated.stdout)["score"] is None


def test_measure_is_unknown_unless_installed(tmp_path: Path) -> None:
    result = run_command(tmp_path, "try_scorer", "--measure", "Perfect@4", "--grades", "3")
    assert (result.returncode, "There is no measure 'Perfect'" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("entry_point", "message"),
    [
        ("relevancy.scoring.measures.judged:JUDGED", "Two measures are called 'Judged'"),
        ("no_such_module:MEASURE", "(no_such_module:MEASURE) cannot be imported"),
    ],
)
def test_start_fails_if_a_measure_cannot_be_used(tmp_path: Path, entry_point: str, message: str) -> None:
    write_distribution(tmp_path, entry_point)
    result = run_command(tmp_path, "check")
    assert result.returncode != 0
    assert message in result.stderr


def test_page_shows_the_example() -> None:
    (listing,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert listing == (EXAMPLE / "relevancy_own_measure.py").read_text(encoding="utf-8")
    (entry_point,) = re.findall(r"^```toml\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert entry_point in (EXAMPLE / "pyproject.toml").read_text(encoding="utf-8")
