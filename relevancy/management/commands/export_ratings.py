"""`export_ratings CASE --format csv`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy.formats import exports
from relevancy.management.command import Command as Base
from relevancy.management.command import find_case, write_file
from relevancy.models import Case

FORMATS = {"csv": "ratings", "trec": "qrels", **{name: name for name in ("ltr", "rre", "json", "rankquest")}}


class Command(Base):
    help = "Exports a case's grades: CSV query,docid,rating, TREC qrels with the ids of the queries as topics, or another format."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("case", help="id or exact name")
        parser.add_argument("--format", choices=list(FORMATS), default="csv")
        parser.add_argument("--output", default="-", metavar="FILE", help="default: stdout")

    def run(self, **options: Any) -> None:
        case = find_case(options["case"])
        with exports.files_of(Case)[FORMATS[options["format"]]].open(case, case.owner) as file:
            write_file(options["output"], file, self.stdout)
        relevant_from = case.book.relevant_from
        if options["format"] == "trec" and relevant_from != 1:
            self.stderr.write(
                f"Qrels do not hold that documents are relevant from {relevant_from:g} up: name it where they are measured, "
                f"as in measure -m 'AP(rel={relevant_from:g})'."
            )
