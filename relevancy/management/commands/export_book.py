"""`export_book BOOK --output book.json`, `export_book BOOK --format ratings`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy.formats import exports
from relevancy.management.command import Command as Base
from relevancy.management.command import find_book, write_export
from relevancy.models import Book


class Command(Base):
    help = "Exports a book as one JSON file that suits version control: settings, queries and ratings."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("book", help="id or exact name")
        parser.add_argument(
            "--format",
            choices=list(self._files()),
            default="relevancy",
            help="default: relevancy. What the format of a product does not hold is printed on stderr. ratings: CSV with those of "
            "every rater",
        )
        parser.add_argument("--output", default="-", metavar="FILE", help="default: stdout")
        parser.add_argument(
            "--owner",
            default="",
            metavar="EMAIL",
            help="raters that this user knows are named by e-mail address, others by name; default: the only superuser",
        )

    def run(self, **options: Any) -> None:
        book = find_book(options["book"])
        write_export(self, self._files()[options["format"]], book, book.owner, options)

    @staticmethod
    def _files() -> dict[str, exports.Export[Book]]:
        files = dict(exports.files_of(Book))
        return {"relevancy": files.pop("book"), **files}
