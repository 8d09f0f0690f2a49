"""`import_outcome`: what it stores and prints, and its mistakes."""

import pytest

from relevancy.optional.outcomes.models import OnlineOutcome
from tests.commands.test_commands import command, refused
from tests.comparison.conftest import run_with
from tests.factories import make_case

pytestmark = pytest.mark.django_db


def test_import_outcome(tmp_path, script):
    case = make_case(["q1"])
    for documents in ("ab", "ba"):
        run_with(case, {"q1": documents})
    path = tmp_path / "may.csv"
    path.write_text("winner,count\na,6\nb,18\ntie,4\n")
    first, second = f"{case.pk}:1", f"{case.pk}:2"
    printed = command("import_outcome", case.pk, path, "--runs", first, second, "--dry-run").splitlines()
    assert printed == [
        "Run 2 won online: 18 sessions preferred Run 2, 6 Run 1; 4 ties (+21.4 percentage points, 95 %: 2.8 to 34.5; p = .023).",
        "Nothing was imported.",
    ]
    assert not OnlineOutcome.objects.exists()
    command("import_outcome", case.pk, path, "--runs", first, second)
    outcome = OnlineOutcome.objects.get()
    assert (outcome.name, outcome.wins_a, outcome.wins_b, outcome.ties) == ("may.csv", 6, 18, 4)
    missing = f"{case.pk}:9"
    assert f"There is no run {missing!r}" in refused("import_outcome", case.pk, path, "--runs", first, missing)
    foreign = run_with(make_case(["q1"]), {"q1": "ab"})
    assert "not of" in refused("import_outcome", case.pk, path, "--runs", first, foreign.pk)
    path.write_text("winner,count\nc,6\n")
    assert "'c' is not a, b or tie" in refused("import_outcome", case.pk, path, "--runs", first, second)
