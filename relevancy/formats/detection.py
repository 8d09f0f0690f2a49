"""Whole cases and books, whose format is recognised by their content."""

from typing import IO

from relevancy.formats.cases.book_import import BookContent
from relevancy.formats.cases.case_content import CaseContent
from relevancy.formats.relevancy import book_reader, case_reader
from relevancy.formats.relevancy.reader import is_relevancy_file

from .file_formats import FileKind, added_format, read_head


def parse_case(file: IO[bytes]) -> CaseContent:
    """Reads a case in our own format or that of an optional app, also in a ZIP file. Raises `BadFile`."""
    other = None if is_relevancy_file(file) else added_format(FileKind.CASE, read_head(file))
    content: CaseContent = other.read(file) if other and other.read else case_reader.parse_case(file)
    return content


def read_book(file: IO[bytes]) -> BookContent:
    """Checks a book in our own format or that of an optional app, also in a ZIP file. Raises `BadFile`.

    The file must stay open until the book is imported.
    """
    other = None if is_relevancy_file(file) else added_format(FileKind.BOOK, read_head(file))
    content: BookContent = other.read(file) if other and other.read else book_reader.read_book(file)
    return content
