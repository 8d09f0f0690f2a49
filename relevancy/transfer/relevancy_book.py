"""A book in our own format, `relevancy/1`."""

from typing import IO

from .quepid_book import BookContent
from .relevancy_export import BOOK
from .relevancy_reader import read_file


def read_book(file: IO[bytes]) -> BookContent:
    """Checks a whole file and returns what it contains. Raises `BadFile` with the location and the value.

    The file must stay open until the book is imported.
    """
    found = read_file(file, kind=BOOK)
    return BookContent(
        name=found.name,
        scale=found.scale,
        rule=found.book.rule,
        relevant_from=found.book.relevant_from,
        guidelines=found.book.guidelines,
        details=found.details,
        raters=set(found.stream.raters),
        ratings=found.stream.count,
        stream=found.stream,
        links=found.links,
    )
