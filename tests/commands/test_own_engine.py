"""The example package with an engine works once it is installed, and docs/writing-an-engine.md shows it."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import invalidate_caches
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command

from relevancy import endpoints, engines
from relevancy.models import Ranking
from tests.factories import make_attempt, make_case, make_endpoint, make_user, run_now

EXAMPLE = settings.BASE_DIR / "examples" / "relevancy-own-engine"
PAGE = settings.BASE_DIR / "docs" / "writing-an-engine.md"
ENTRY_POINT = "relevancy_own_engine:EchoEngine"


def write_distribution(folder: Path, entry_point: str) -> None:
    """Writes the metadata of an installed package with one engine."""
    metadata = folder / "own_engine-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: own-engine\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(f"[relevancy.engines]\nother = {entry_point}\n", encoding="utf-8")


def run_python(site: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Runs Python with a folder of installed packages on the path."""
    environment = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{settings.BASE_DIR}"}
    return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=120)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the installed example, on the path of this process."""
    shutil.copy(EXAMPLE / "relevancy_own_engine.py", tmp_path)
    write_distribution(tmp_path, ENTRY_POINT)
    monkeypatch.syspath_prepend(tmp_path)
    invalidate_caches()
    engines.available.cache_clear()
    yield tmp_path
    monkeypatch.undo()
    invalidate_caches()
    engines.available.cache_clear()
    sys.modules.pop("relevancy_own_engine", None)


@pytest.mark.django_db
def test_installed_engine_runs_a_case(installed: Path) -> None:
    case = make_case(["a longer word", "one"], ratings={"a longer word": {"longer": 3, "a": 0}})
    endpoint = make_endpoint(case.owner, engine="echo", url="anything")
    attempt = make_attempt(case, endpoint, template="q=#$query##", fields="id:id title:word length")
    run = run_now(attempt)
    rankings = {ranking.text: [hit[0] for hit in ranking.hits] for ranking in Ranking.objects.filter(run=run)}
    assert rankings == {"a longer word": ["longer", "word", "a"], "one": ["one"]}


@pytest.mark.django_db
def test_installed_engine_is_a_choice_of_forms_and_commands(installed: Path) -> None:
    assert "echo" in [info.key for info in endpoints.available_engines()]
    make_user("Admin", superuser=True)
    output = StringIO()
    call_command("create_endpoint", "words", "echo", "anything", stdout=output)
    assert "Echo 1.0. 3 fields" in output.getvalue()


@pytest.mark.django_db
def test_uninstalled_engine_is_a_message(db: Any) -> None:
    endpoint = make_endpoint(make_user(), engine="echo", url="anything")
    assert "No engine “echo” is installed" in endpoints.test_connection(endpoint=endpoint, text="a").error
    assert endpoints.engine_label("echo") == "echo"


def test_example_can_be_installed(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "installed"
    shutil.copytree(EXAMPLE, source, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check")
    result = run_python(tmp_path, "-m", "pip", "install", *options, "--target", str(target), str(source))
    assert result.returncode == 0, result.stderr
    listed = run_python(target, "-c", "from relevancy import engines; print([e.key for e in engines.available()])")
    assert "'echo'" in listed.stdout, listed.stderr


@pytest.mark.parametrize(
    ("entry_point", "message"),
    [
        ("tests.engines.test_registry:OtherSolr", "Two engines have the key “solr”"),
        ("no_such_module:Engine", "(no_such_module:Engine) cannot be imported"),
        ("json:JSONDecoder", "must refer to a subclass of relevancy.engines.Engine"),
    ],
)
def test_start_fails_if_an_engine_cannot_be_used(tmp_path: Path, entry_point: str, message: str) -> None:
    write_distribution(tmp_path, entry_point)
    result = run_python(tmp_path, "-m", "relevancy", "check")
    assert result.returncode != 0
    assert message in result.stderr


def test_page_shows_the_example() -> None:
    text = PAGE.read_text(encoding="utf-8")
    (listing,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert listing == (EXAMPLE / "relevancy_own_engine.py").read_text(encoding="utf-8")
    (entry_point,) = re.findall(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert entry_point in (EXAMPLE / "pyproject.toml").read_text(encoding="utf-8")
