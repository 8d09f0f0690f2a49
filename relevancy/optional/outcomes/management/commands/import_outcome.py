"""`import_outcome CASE sessions.csv --runs CASE:3 CASE:4`"""

from collections.abc import Mapping
from typing import IO, Any

from django.core.management.base import CommandParser

from relevancy.management.command import fail, find_run
from relevancy.management.files import ImportCommand
from relevancy.models import User
from relevancy.optional.outcomes import outcomes
from relevancy.optional.outcomes.sessions_csv import read_outcome


class Command(ImportCommand):
    help = "Imports what users decided between two runs of a case in an interleaving or A/B test, counted by session."
    into_case = True
    file_help = "CSV with session (or count) and either winner; clicks_a and clicks_b; or side and success. - is stdin"
    name_help = "of the outcome; default: the name of the file"
    dry_run_help = "says what would be imported"
    owner_help = "who imports it; default: the case's owner"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--runs",
            nargs=2,
            required=True,
            metavar=("A", "B"),
            help="runs of the case: an id or CASE:NUMBER; A is the baseline",
        )

    def import_file(self, file: IO[bytes], *, by: User, options: Mapping[str, Any]) -> None:
        case = options["case"]
        a, b = (find_run(text) for text in options["runs"])
        for run in (a, b):
            if run.case != case:
                fail(f"{run} is a run of the case “{run.case}”, not of “{case}”. Name two runs of one case.")
        name = options["name"] or options["file"].rpartition("/")[2][:120]
        outcome = read_outcome(file, case=case, run_a=a, run_b=b, name=name)
        outcomes.check_outcome(outcome)
        if not options["dry_run"]:
            outcomes.store_outcome(outcome=outcome, by=by)
        self.write(outcomes.describe_outcome(outcome, [str(a), str(b)]))
        for remark in outcome.remarks:
            self.write(remark)
        if options["dry_run"]:
            self.write("Nothing was imported.")
