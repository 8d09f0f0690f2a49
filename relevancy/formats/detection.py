"""Whole cases and books, whose format is recognised by their content."""

from typing import IO, Any

from relevancy.formats.cases.case_content import BookContent, CaseContent

from .file_formats import FileKind, of_kind, read_head


def parse_case(file: IO[bytes]) -> CaseContent:
    """Reads a case in our own format or that of an optional app, also in a ZIP file. Raises `BadFile`."""
    content: CaseContent = _read(file, FileKind.CASE)
    return content


def read_book(file: IO[bytes]) -> BookContent:
    """Checks a book in our own format or that of an optional app, also in a ZIP file. Raises `BadFile`.

    The file must stay open until the book is imported.
    """
    content: BookContent = _read(file, FileKind.BOOK)
    return content


def _read(file: IO[bytes], kind: FileKind) -> Any:
    """Reads a file that is none of ours in a format of an optional app: one that fits or, because its errors say what the file lacks,
    the first."""
    head = read_head(file)
    ours, *added = of_kind(kind)
    fitting = [ours] if head.is_ours else [candidate for candidate in added if candidate.fits(head)]
    chosen = [*fitting, *added, ours][0]
    assert chosen.read is not None
    return chosen.read(file)
