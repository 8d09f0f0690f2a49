"""`export_run RUN --format trec`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy import transfer
from relevancy.management.command import Command as Base
from relevancy.management.command import find_run, write_text

FORMATS = {"trec": transfer.trec.export_run, "csv": transfer.run_csv.export_run}


class Command(Base):
    help = "Exports a run: as a TREC run with the ids of the queries as topics, or as Quepid's snapshot CSV."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", help="id, or CASE:NUMBER")
        parser.add_argument("--format", choices=list(FORMATS), default="trec")
        parser.add_argument("--output", default="-", metavar="FILE", help="default: stdout")

    def run(self, **options: Any) -> None:
        write_text(options["output"], FORMATS[options["format"]](run=find_run(options["run"])), self.stdout)
