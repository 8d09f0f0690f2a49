"""`import_book book_export_7.json.zip`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy import formats
from relevancy.formats.cases import book_import
from relevancy.formats.file_formats import FileKind, products
from relevancy.management.command import Command as Base
from relevancy.management.command import find_owner, open_binary
from relevancy.wording import counted


class Command(Base):
    help = f"Creates a book from a file that {products(FileKind.BOOK)} exported, JSON or ZIP. If anything is wrong, nothing is created."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="- is stdin")
        parser.add_argument("--name", default="", help="default: that of the file")
        parser.add_argument("--dry-run", action="store_true", help="says what would be created")
        parser.add_argument("--owner", default="", metavar="EMAIL", help="default: the only superuser")

    def run(self, **options: Any) -> None:
        owner = find_owner(options["owner"])
        with open_binary(options["file"]) as file:
            content = formats.read_book(file)
            for remark in content.remarks:
                self.stderr.write(remark)
            counts = (
                f"{counted(len(content.details), 'query', 'queries')} and "
                f"{counted(content.ratings, 'rating')} of {counted(len(content.raters), 'rater')}"
            )
            if options["dry_run"]:
                self.write(f"Would create {options['name'] or content.name} with {counts}.")
                return
            book = book_import.import_book(content=content, by=owner, name=options["name"])
        self.write(f"Book {book.pk} {book.name} created with {counts}.")
