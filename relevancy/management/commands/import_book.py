"""`import_book book_export_7.json.zip`"""

from collections.abc import Mapping
from typing import IO, Any

from relevancy import formats
from relevancy.formats.cases import book_import
from relevancy.formats.file_formats import FileKind, products
from relevancy.management.files import ImportCommand
from relevancy.models import User
from relevancy.wording import counted


class Command(ImportCommand):
    help = f"Creates a book from a file that {products(FileKind.BOOK)} exported, JSON or ZIP. If anything is wrong, nothing is created."
    name_help = "default: that of the file"

    def import_file(self, file: IO[bytes], *, by: User, options: Mapping[str, Any]) -> None:
        content = formats.read_book(file)
        for remark in content.remarks:
            self.stderr.write(remark)
        counts = (
            f"{counted(len(content.details), 'query', 'queries')} and "
            f"{counted(content.ratings.count, 'rating')} of {counted(len(content.ratings.raters), 'rater')}"
        )
        if options["dry_run"]:
            self.write(f"Would create {options['name'] or content.name} with {counts}.")
            return
        book = book_import.import_book(content=content, by=by, name=options["name"])
        self.write(f"Book {book.pk} {book.name} created with {counts}.")
