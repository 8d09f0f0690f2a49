"""Whole cases and books, whose format is recognised by their content."""

from typing import IO

from relevancy.formats.cases.book_import import BookContent
from relevancy.formats.cases.case_content import CaseContent
from relevancy.formats.relevancy import book_reader, case_reader

from .file_formats import FileFormat, FileKind, added_format, read_head


def parse_case(file: IO[bytes]) -> CaseContent:
    """Reads a case in our own format or that of an optional app, also in a ZIP file. Raises `BadFile`."""
    added = _find_added(file, FileKind.CASE)
    content: CaseContent = added.read(file) if added and added.read else case_reader.parse_case(file)
    return content


def read_book(file: IO[bytes]) -> BookContent:
    """Checks a book in our own format or that of an optional app, also in a ZIP file. Raises `BadFile`.

    The file must stay open until the book is imported.
    """
    added = _find_added(file, FileKind.BOOK)
    content: BookContent = added.read(file) if added and added.read else book_reader.read_book(file)
    return content


def _find_added(file: IO[bytes], kind: FileKind) -> FileFormat | None:
    head = read_head(file)
    return None if head.is_ours else added_format(kind, head)
