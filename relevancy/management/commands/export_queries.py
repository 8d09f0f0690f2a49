"""`export_queries CASE --output queries.csv`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy.formats import exports
from relevancy.management.command import Command as Base
from relevancy.management.command import find_case, write_file
from relevancy.models import Case

FORMATS = ("queries", "information-needs")


class Command(Base):
    help = "Exports the queries of a case as CSV, with information needs, notes, tags, options and weights, or with needs alone."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("case", help="id or exact name")
        parser.add_argument("--format", choices=FORMATS, default="queries")
        parser.add_argument("--output", default="-", metavar="FILE", help="default: stdout")

    def run(self, **options: Any) -> None:
        case = find_case(options["case"])
        with exports.files_of(Case)[options["format"]].open(case, case.owner) as file:
            write_file(options["output"], file, self.stdout)
