"""`export_run RUN --format trec`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy.formats import exports
from relevancy.management.command import Command as Base
from relevancy.management.command import find_run, write_file
from relevancy.models import Run


class Command(Base):
    help = "Exports a run: as a TREC run with the ids of the queries as topics, or as CSV with the displayed fields."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", help="id, or CASE:NUMBER")
        parser.add_argument("--format", choices=sorted(exports.files_of(Run)), default="trec")
        parser.add_argument("--output", default="-", metavar="FILE", help="default: stdout")

    def run(self, **options: Any) -> None:
        run = find_run(options["run"])
        with exports.files_of(Run)[options["format"]].open(run, run.case.owner) as file:
            write_file(options["output"], file, self.stdout)
