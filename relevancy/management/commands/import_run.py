"""`import_run CASE run.trec`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy import scores
from relevancy.formats.rankings import runs_file
from relevancy.management.command import Command as Base
from relevancy.management.command import find_case, find_owner, open_binary


class Command(Base):
    help = "Imports rankings that were made elsewhere as runs of a case. If anything is wrong, nothing is imported."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("case", help="id or exact name")
        parser.add_argument(
            "file",
            help="a TREC run; snapshots, one or several; or CSV with query, docid, position and displayed fields. - is stdin",
        )
        parser.add_argument("--name", default="", help="of the run; default: the name in the file")
        parser.add_argument("--dry-run", action="store_true", help="says what would be imported")
        parser.add_argument("--owner", default="", metavar="EMAIL", help="who imports it; default: the case's owner")

    def run(self, **options: Any) -> None:
        case = find_case(options["case"])
        by = find_owner(options["owner"]) if options["owner"] else case.owner
        with open_binary(options["file"]) as file:
            text = runs_file.read_file(file=file, name=options["file"])
        if options["dry_run"]:
            plan = runs_file.plan_runs(case=case, text=text, name=options["name"])
            names = ", ".join(rankings.name or "a run without a name" for rankings in plan.rankings)
            self.write(" ".join([f"Would import {names}.", *plan.remarks]))
            return
        imported = runs_file.import_runs(case=case, text=text, by=by, name=options["name"])
        for run in imported.runs:
            scores.rescore_run(run)
        self.write(runs_file.describe_import(imported))
        ids = " ".join(str(run.pk) for run in imported.runs)
        self.write(f"Id{'s' if len(imported.runs) > 1 else ''} for compare: {ids}")
