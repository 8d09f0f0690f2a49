"""Files whose format is recognised by their content."""

from typing import IO

from . import quepid_book, quepid_case, relevancy_book, relevancy_case
from .archives import open_json
from .case_content import CaseContent
from .quepid_book import BookContent
from .relevancy_reader import is_relevancy_file


def parse_case(file: IO[bytes]) -> CaseContent:
    """Reads a case in our own format or as Quepid exports it, also in a ZIP file. Raises `BadFile`."""
    if is_relevancy_file(file):
        return relevancy_case.parse_case(file)
    with open_json(file) as opened:
        return quepid_case.parse_case(opened)


def read_book(file: IO[bytes]) -> BookContent:
    """Checks a book in our own format or as Quepid exports it, also in a ZIP file. Raises `BadFile`."""
    return relevancy_book.read_book(file) if is_relevancy_file(file) else quepid_book.read_book(file)
