"""The part of the faults that the gate runs: a few kills, and a database that takes no writes. `make faults` runs all of them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.servers import ROOT, missing_programs


def test_nothing_is_lost_when_processes_are_killed(tmp_path: Path) -> None:
    if missing := missing_programs():
        if os.environ.get("CI") == "true":
            pytest.fail(f"{', '.join(missing)} not found (packages postgresql, redis-server).")
        pytest.skip(f"{', '.join(missing)} not found")
    report = tmp_path / "report.md"
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults", "--quick", str(report)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| database read-only | 1 |" in report.read_text(encoding="utf-8")
