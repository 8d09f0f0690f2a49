"""Data next to the project, which the tests need and the repository does not contain."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "shared" / "data"


def shared_data(*parts: str) -> Path:
    """Returns a file or folder of ../shared/data. If it is missing, the test is skipped; with `CI=true` it fails."""
    path = ROOT.joinpath(*parts)
    if not path.exists():
        give_up = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        give_up(f"../shared/data/{'/'.join(parts)} is missing")
    return path
