"""`export_case CASE --output case.json`, `export_case CASE --format quepid`, `export_case CASE --format detailed`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy import transfer
from relevancy.management.command import Command as Base
from relevancy.management.command import find_case, find_owner, write_file

RESULTS = {name: file for name, file in transfer.exports.OF_CASE.items() if file.group == transfer.exports.RESULTS}


class Command(Base):
    help = "Exports a case as one JSON file that suits version control, or its scores and results as CSV."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("case", help="id or exact name")
        parser.add_argument(
            "--format",
            choices=["relevancy", "quepid", *RESULTS],
            default="relevancy",
            help="default: relevancy. What Quepid's format does not hold is printed on stderr. The others are CSV with scores and "
            "results",
        )
        parser.add_argument("--output", default="-", metavar="FILE", help="default: stdout")
        parser.add_argument(
            "--owner",
            default="",
            metavar="EMAIL",
            help="raters that this user knows are named by e-mail address, others by name; default: the only superuser",
        )

    def run(self, **options: Any) -> None:
        if options["format"] in RESULTS:
            case = find_case(options["case"])
            with RESULTS[options["format"]].build(case, case.owner) as file:
                write_file(options["output"], file, self.stdout)
            return
        owner = find_owner(options["owner"])
        if options["format"] == "quepid":
            left_out: list[str] = []
            parts = transfer.quepid_export.export_case(case=find_case(options["case"]), by=owner, left_out=left_out)
            with transfer.exports.spool(parts) as file:
                write_file(options["output"], file, self.stdout)
            for sentence in left_out:
                self.stderr.write(sentence)
            return
        with transfer.relevancy_export.export_case(case=find_case(options["case"]), by=owner) as file:
            write_file(options["output"], file, self.stdout)
