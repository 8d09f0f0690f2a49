"""`export_book BOOK --output book.json`, `export_book BOOK --format quepid`, `export_book BOOK --format ratings`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy import transfer
from relevancy.management.command import Command as Base
from relevancy.management.command import find_book, find_owner, write_file


class Command(Base):
    help = "Exports a book as one JSON file that suits version control: settings, queries and ratings."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("book", help="id or exact name")
        parser.add_argument(
            "--format",
            choices=["relevancy", "quepid", "ratings"],
            default="relevancy",
            help="default: relevancy. What Quepid's format does not hold is printed on stderr. ratings: CSV with those of every rater",
        )
        parser.add_argument("--output", default="-", metavar="FILE", help="default: stdout")
        parser.add_argument(
            "--owner",
            default="",
            metavar="EMAIL",
            help="raters that this user knows are named by e-mail address, others by name; default: the only superuser",
        )

    def run(self, **options: Any) -> None:
        if options["format"] == "ratings":
            book = find_book(options["book"])
            with transfer.exports.OF_BOOK["ratings"].build(book, book.owner) as file:
                write_file(options["output"], file, self.stdout)
            return
        owner = find_owner(options["owner"])
        if options["format"] == "quepid":
            left_out: list[str] = []
            parts = transfer.quepid_book_export.export_book(
                book=find_book(options["book"]), by=owner, left_out=left_out
            )
            with transfer.exports.spool(parts) as file:
                write_file(options["output"], file, self.stdout)
            for sentence in left_out:
                self.stderr.write(sentence)
            return
        with transfer.relevancy_export.export_book(book=find_book(options["book"]), by=owner) as file:
            write_file(options["output"], file, self.stdout)
