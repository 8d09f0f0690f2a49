"""Whole cases and books, whose format is recognised by their content."""

from typing import IO

from . import relevancy_book, relevancy_case
from .book_import import BookContent
from .case_content import CaseContent
from .formats import FileKind, added_format, read_head
from .relevancy_reader import is_relevancy_file


def parse_case(file: IO[bytes]) -> CaseContent:
    """Reads a case in our own format or that of an optional app, also in a ZIP file. Raises `BadFile`."""
    other = None if is_relevancy_file(file) else added_format(FileKind.CASE, read_head(file))
    content: CaseContent = other.read(file) if other and other.read else relevancy_case.parse_case(file)
    return content


def read_book(file: IO[bytes]) -> BookContent:
    """Checks a book in our own format or that of an optional app, also in a ZIP file. Raises `BadFile`.

    The file must stay open until the book is imported.
    """
    other = None if is_relevancy_file(file) else added_format(FileKind.BOOK, read_head(file))
    content: BookContent = other.read(file) if other and other.read else relevancy_book.read_book(file)
    return content
