"""`import_outcome CASE sessions.csv --runs CASE:3 CASE:4`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy.management.command import Command as Base
from relevancy.management.command import fail, find_case, find_owner, find_run, open_binary
from relevancy.optional.outcomes import outcomes
from relevancy.optional.outcomes.sessions_csv import read_outcome


class Command(Base):
    help = "Imports what users decided between two runs of a case in an interleaving or A/B test, counted by session."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("case", help="id or exact name")
        parser.add_argument(
            "file",
            help="CSV with session (or count) and either winner; clicks_a and clicks_b; or side and success. - is stdin",
        )
        parser.add_argument(
            "--runs",
            nargs=2,
            required=True,
            metavar=("A", "B"),
            help="runs of the case: an id or CASE:NUMBER; A is the baseline",
        )
        parser.add_argument("--name", default="", help="of the outcome; default: the name of the file")
        parser.add_argument("--dry-run", action="store_true", help="says what would be imported")
        parser.add_argument("--owner", default="", metavar="EMAIL", help="who imports it; default: the case's owner")

    def run(self, **options: Any) -> None:
        case = find_case(options["case"])
        by = find_owner(options["owner"]) if options["owner"] else case.owner
        a, b = (find_run(text) for text in options["runs"])
        for run in (a, b):
            if run.case != case:
                fail(f"{run} is a run of the case “{run.case}”, not of “{case}”. Name two runs of one case.")
        with open_binary(options["file"]) as file:
            counts = read_outcome(file)
        outcomes.check_outcome(a=a, b=b, counts=counts)
        if not options["dry_run"]:
            name = options["name"] or options["file"].rpartition("/")[2][:120]
            outcomes.store_outcome(a=a, b=b, counts=counts, name=name, by=by)
        self.write(outcomes.describe_outcome(counts, [str(a), str(b)]))
        for remark in counts.remarks:
            self.write(remark)
        if options["dry_run"]:
            self.write("Nothing was imported.")
