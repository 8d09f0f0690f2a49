"""`import_ratings CASE ratings.csv`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy import tasks
from relevancy.formats import file_formats
from relevancy.formats.ratings import ratings_import
from relevancy.management.command import Command as Base
from relevancy.management.command import find_case, find_owner, open_binary
from relevancy.wording import counted

FORMATS = [file_format.name for file_format in file_formats.of_kind(file_formats.FileKind.RATINGS)]


class Command(Base):
    help = "Imports ratings into a case, from CSV, TREC qrels and other formats. If anything is wrong, nothing is imported."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("case", help="id or exact name")
        parser.add_argument("file", help="- is stdin")
        parser.add_argument(
            "--format", choices=[*FORMATS, "auto"], default="auto", help="default: recognised by the file"
        )
        parser.add_argument("--owner", default="", metavar="EMAIL", help="the rater; default: the case's owner")

    def run(self, **options: Any) -> None:
        case = find_case(options["case"])
        by = find_owner(options["owner"]) if options["owner"] else case.owner
        chosen = "" if options["format"] == "auto" else options["format"]
        with open_binary(options["file"]) as file:
            source = ratings_import.open_source(case=case, file=file, name=options["file"], format=chosen)
            imported = ratings_import.import_ratings(case=case, source=source, by=by, origin="command")
        if imported.changed:
            tasks.enqueue_book_rescore(case.book_id)
        self.write(
            f"{counted(imported.ratings, 'rating')} read as {source.format}: {imported.changed:,} new or changed. "
            f"{counted(imported.queries, 'query', 'queries')} added."
        )
