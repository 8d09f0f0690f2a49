"""What the app adds to tests that cover the whole site; see tests/optional.py."""

from types import ModuleType
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from relevancy.models import Case, Run, User
from relevancy.optional.outcomes.models import OnlineOutcome
from tests.views.factories import make_run

PAGES_WITH_FILES = ["optional/outcomes/pages.py"]

CANARIES = {OnlineOutcome: ["name"]}
# tests/views/test_access_matrix.py and tests/api/test_access_matrix.py
PAGES = """
address                method role    status
online_outcomes        GET    see     200
online_outcome_import  POST   edit    200
online_outcome_delete  GET    edit    200
online_outcome_delete  POST   edit    302
"""
OPERATIONS = """
operation          role    scope  status
list_outcomes      see     read   200
delete_outcome     edit    write  204
import_outcome     edit    write  201
"""
OPERATION_PARAMETERS = {"import_outcome": "?a=1&b=2"}
OPERATION_FILES = {"import_outcome": "winner,count\na,6\nb,18\n"}
OPERATION_PARTS = """
operation               name
delete_outcome          outcome_id
"""


def make_objects(case: Case, run: Run, other: Run) -> dict[str, int]:
    """An outcome of two runs; its id by its name in addresses."""
    counts = {"method": "interleaving", "wins_a": 1, "wins_b": 2}
    outcome = OnlineOutcome.objects.create(
        case=case, run_a=run, run_b=other, name="May", created_by=case.owner, **counts
    )
    return {"outcome_id": outcome.pk}


def bodies(world: Any) -> dict[str, dict[str, Any]]:
    """What is posted to an address, so that nothing but the missing role refuses it."""
    sessions = SimpleUploadedFile("may.csv", b"session,winner\n1,b\n")
    return {"online_outcome_import": {"do": "preview", "a": "1", "b": "2", "file": sessions}}


def make_rows(case: Case, run: Run, rater: User) -> None:
    """One row of every model."""
    OnlineOutcome.objects.create(
        case=case,
        run_a=run,
        run_b=make_run(case),
        method="interleaving",
        name="May",
        wins_a=1,
        wins_b=2,
        created_by=rater,
    )


def add_ways_in(bad_files: ModuleType) -> None:
    """Adds to the tables of tests/test_bad_files.py."""
    outcome = b"winner,count\na,6\nb,18\n"
    bad_files.CSV.append(outcome)
    bad_files.WAYS_IN.update(
        {
            "page of outcomes": bad_files.WayIn(
                outcome, lambda world, file: world.page("/cases/{case}/online/import/", file, a=1, b=2)
            ),
            "import_outcome of the API": bad_files.WayIn(
                outcome, lambda world, file: world.api("/cases/{case}/import/outcome?a=1&b=2", file)
            ),
            "import_outcome": bad_files.by_command(
                outcome, "import_outcome", "{case}", bad_files.FILE, "--runs", "{case}:1", "{case}:2"
            ),
        }
    )
