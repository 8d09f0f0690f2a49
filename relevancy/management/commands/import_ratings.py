"""`import_ratings CASE ratings.csv`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy import tasks, transfer
from relevancy.management.command import Command as Base
from relevancy.management.command import find_case, find_owner, open_lines


class Command(Base):
    help = "Imports ratings into a case: CSV query,docid,rating. If anything is wrong, nothing is imported."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("case", help="id or exact name")
        parser.add_argument("file", help="- is stdin")
        parser.add_argument("--format", choices=["csv", "auto"], default="auto")
        parser.add_argument("--owner", default="", metavar="EMAIL", help="the rater; default: the case's owner")

    def run(self, **options: Any) -> None:
        case = find_case(options["case"])
        by = find_owner(options["owner"]) if options["owner"] else case.owner
        with open_lines(options["file"]) as lines:
            imported = transfer.ratings_csv.import_ratings(case=case, text=lines, by=by, source="command")
        if imported.changed:
            tasks.enqueue_book_rescore(case.book_id)
        self.write(
            f"{imported.ratings:,} ratings read: {imported.changed:,} new or changed. {imported.queries:,} queries added."
        )
