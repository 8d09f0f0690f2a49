"""`import_run CASE run.trec`"""

from collections.abc import Mapping
from typing import IO, Any

from relevancy import scores
from relevancy.formats.rankings import runs_file
from relevancy.management.files import ImportCommand
from relevancy.models import User


class Command(ImportCommand):
    help = "Imports rankings that were made elsewhere as runs of a case. If anything is wrong, nothing is imported."
    into_case = True
    file_help = (
        "a TREC run; snapshots, one or several; or CSV with query, docid, position and displayed fields. - is stdin"
    )
    name_help = "of the run; default: the name in the file"
    dry_run_help = "says what would be imported"
    owner_help = "who imports it; default: the case's owner"

    def import_file(self, file: IO[bytes], *, by: User, options: Mapping[str, Any]) -> None:
        case, name = options["case"], options["name"]
        snapshots = runs_file.read_file(file=file, name=options["file"])
        if options["dry_run"]:
            plan = runs_file.plan_runs(case=case, snapshots=snapshots, name=name)
            names = ", ".join(rankings.name or "a run without a name" for rankings in plan.rankings)
            self.write(" ".join([f"Would import {names}.", *plan.remarks]))
            return
        imported = runs_file.import_runs(case=case, snapshots=snapshots, by=by, name=name)
        for run in imported.runs:
            scores.rescore_run(run)
        self.write(runs_file.describe_import(imported))
        ids = " ".join(str(run.pk) for run in imported.runs)
        self.write(f"Id{'s' if len(imported.runs) > 1 else ''} for compare: {ids}")
