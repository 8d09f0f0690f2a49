"""Every benchmark runs and prints its figures, with a few queries: so that none of them rots. How fast is for them to say."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.live.conftest import wanted
from tests.live.servers import fetched

FOLDER = Path(__file__).parents[1] / "benchmarks"
# What each is told to be quick, and words of what it then says.
QUICK = {
    "memory": (["--quick"], ["peak", "target no process above"]),
    "raters": (["--quick"], ["one alone", "20 without a pause", "target p95"]),
    "sandbox": (["--queries", "20"], ["first script of a process", "queries a second"]),
    "scoring": (["--quick"], ["pytrec_eval", "with bounds"]),
    "storage": (["--queries", "20"], ["MB"]),
    "workbench": (["--queries", "120"], ["statements", "ratio"]),
}
ON_ENGINES = {
    "engine_runs": (["elasticsearch", "opensearch"], "target ratio below 1"),
    "solr_run": (["solr"], "target ratio at most 1.5"),
}
SHARED = {"fresh_site", "invented", "large_case", "options", "own_environment", "product_case"}  # no benchmarks themselves


def run(name: str, *words: str) -> str:
    """What a benchmark prints. Only with `--check` may a missed target be an error."""
    done = subprocess.run(
        [sys.executable, str(FOLDER / f"{name}.py"), *words], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_benchmark_is_run_here() -> None:
    there = {path.stem for path in FOLDER.glob("*.py")}
    assert there == QUICK.keys() | ON_ENGINES.keys() | SHARED


@pytest.mark.parametrize("name", sorted(QUICK))
def test_runs_and_prints_its_figures(name: str) -> None:
    words, figures = QUICK[name]
    said = run(name, *words)
    assert [figure for figure in figures if figure not in said] == [], said
