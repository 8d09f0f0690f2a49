"""Queries as a text file: one to a line, or CSV with a column `query`."""

import csv
import io
from collections.abc import Iterator

from relevancy import queries

from .cells import unprotect
from .errors import BadFile


def parse_queries(text: str) -> queries.PastedQueries:
    """Reads queries. If the first line is a CSV header with a column `query`, that column; otherwise each line is a query.

    Raises `BadFile` for CSV that cannot be read, and `ValidationError` for too many queries.
    """
    text = text.removeprefix("\ufeff")
    header = [name.strip().lower() for name in next(csv.reader(io.StringIO(text, newline="")), [])]
    if "query" not in header:
        return queries.parse_pasted(text)
    column = header.index("query")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        return queries.parse_lines(_read_column(reader, column))
    except csv.Error as error:
        raise BadFile(f"this is not valid CSV: {error}.", line=reader.line_num) from None


def _read_column(reader: Iterator[list[str]], column: int) -> Iterator[str]:
    """Yields one line for each record, so that the numbers of rejected lines are those of their records; an empty one for the
    header."""
    next(reader)
    yield ""
    for cells in reader:
        text = unprotect(cells[column]) if column < len(cells) else ""
        yield " ".join(text.splitlines())
