"""A book in our own format, `relevancy/1`."""

from typing import IO

from relevancy.formats.cases.book_import import BookContent

from .reader import read_file
from .writer import BOOK


def read_book(file: IO[bytes]) -> BookContent:
    """Checks a whole file and returns what it contains. Raises `BadFile` with the location and the value.

    The file must stay open until the book is imported.
    """
    content = read_file(file, kind=BOOK)
    return BookContent(
        name=content.head.name,
        scale=content.scale,
        rule=content.book.rule,
        relevant_from=content.book.relevant_from,
        guidelines=content.book.guidelines,
        details=content.details,
        raters=set(content.stream.raters),
        ratings=content.stream.count,
        stream=content.stream,
        links=content.links,
        remarks=list(content.remarks),
    )
