"""Queries as a text file: one to a line, or CSV with a column `query`."""

import csv
import io

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
    # A record of several lines counts as one: the numbers of rejected lines are those of its records, with the header first.
    records = [""]
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        next(reader)
        for cells in reader:
            text = unprotect(cells[column]) if column < len(cells) else ""
            records.append(" ".join(text.splitlines()))
    except csv.Error as error:
        raise BadFile(f"this is not valid CSV: {error}.", line=reader.line_num) from None
    return queries.parse_pasted("\n".join(records))
