"""`export_book BOOK --output book.json`, `export_book BOOK --format ratings`"""

from relevancy.formats.exports import Export, files_of
from relevancy.management.command import find_book
from relevancy.management.files import ExportCommand
from relevancy.models import Book


class Command(ExportCommand[Book]):
    help = "Exports a book as one JSON file that suits version control: settings, queries and ratings."
    argument = "book"
    find = staticmethod(find_book)
    format_help = (
        "default: relevancy. What the format of a product does not hold is printed on stderr. ratings: CSV with those of "
        "every rater"
    )
    names_raters = True

    @staticmethod
    def files() -> dict[str, Export[Book]]:
        files = dict(files_of(Book))
        return {"relevancy": files.pop("book"), **files}
