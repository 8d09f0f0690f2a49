"""What the app adds to tests that cover the whole site; see tests/optional.py."""

from types import ModuleType

from relevancy.models import Case, Run, User
from relevancy.optional.outcomes.models import OnlineOutcome
from tests.views.factories import make_run

PAGES_WITH_FILES = ["optional/outcomes/pages.py"]


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
