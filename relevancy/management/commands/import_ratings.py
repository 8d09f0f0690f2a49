"""`import_ratings CASE ratings.csv`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy import tasks, transfer
from relevancy.management.command import Command as Base
from relevancy.management.command import find_case, find_owner, read_text


class Command(Base):
    help = "Take ratings over into a case: CSV query,docid,rating. All or nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("case", help="id or exact name")
        parser.add_argument("file", help="- is stdin")
        parser.add_argument("--format", choices=["csv", "auto"], default="auto")
        parser.add_argument(
            "--owner", default="", metavar="EMAIL", help="whose ratings they become; default: the case's owner"
        )

    def work(self, **options: Any) -> None:
        case = find_case(options["case"])
        by = find_owner(options["owner"]) if options["owner"] else case.owner
        text = read_text(options["file"])
        done = transfer.ratings_csv.import_ratings(case=case, text=text, by=by, source="command")
        if done.changed:
            tasks.ratings_changed(case.book)
        self.say(f"{done.ratings:,} ratings read, {done.changed:,} new or changed, {done.queries:,} new queries.")
