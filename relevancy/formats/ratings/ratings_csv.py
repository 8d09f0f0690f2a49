"""Ratings as CSV: `query,docid,rating`, perhaps with further columns, or with a column for each rater."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from relevancy.engines.static.csv_cells import unprotect
from relevancy.formats.cells import check_width, read_table, write_rows
from relevancy.formats.errors import BadFile, quote
from relevancy.models import Case

from .graded_queries import graded_queries
from .ratings_file import RatingRow

COLUMNS = ("query", "docid", "rating")
DELIMITERS = (",", ";", "\t")
_DECIMAL_COMMA = re.compile(r"^([-+]?\d+),(\d+)$")
RATING, RATER = "rating", "rater"
QUERY = ("query", "query text", "query_text")
DOC_ID = ("docid", "doc_id", "doc id")
# Names of columns that are not those of raters.
NO_RATERS = frozenset(("position", "doc position", "rank", "score", "title"))


@dataclass(frozen=True)
class Layout:
    """What separates the cells of a file, how many columns it has, and their numbers; by default those of a file without a header.

    ratings: number of a column, and the name of its rater. rater: the column that names the rater of each row.
    may_be_short: rows of queries without documents end before the document, as in Quepid's detailed file.
    """

    delimiter: str
    width: int = len(COLUMNS)
    query: int = 0
    doc_id: int = 1
    ratings: Sequence[tuple[int, str]] = ((2, ""),)
    rater: int | None = None
    has_header: bool = False
    may_be_short: bool = False


def read_ratings(lines: Iterable[str]) -> Iterator[RatingRow]:
    """Yields the ratings of a file, given its lines, in one of three forms. Raises `BadFile`.

    With the columns `query`, `docid` and `rating` in any order, and perhaps `rater`; others are left out, such as those of a snapshot.
    With `query`, `docid` and a column for each rater, which has his or her name.
    Without a header: query, document id and rating.
    Cells are separated by commas, semicolons or tabs, the same everywhere in a file; with the last two, 1,5 is a number.
    """
    lines = iter(lines)
    first = next(lines, "")
    layout = find_layout(first)
    delimiter = layout.delimiter if layout else ","
    rows = read_table(chain([first], lines), delimiter=delimiter)
    if layout is None or layout.has_header:
        _, header = next(rows)  # a quoted name of a column may go on in the next line
        layout = _find_columns(header, delimiter)
        if layout is None:
            raise BadFile(
                f"the header is {quote(','.join(header))}; it must be 'query,docid,rating', perhaps with further columns.",
                line=1,
            )
    for line, cells in rows:
        if layout.may_be_short and layout.query < len(cells) <= layout.doc_id:
            cells += [""] * (layout.width - len(cells))
        if not layout.has_header and len(cells) != layout.width:
            found = quote(",".join(cells))
            raise BadFile(f"{len(cells)} columns instead of {layout.width} ({','.join(COLUMNS)}): {found}.", line=line)
        check_width(cells, layout.width, line)
        for number, rater in layout.ratings:
            rating = cells[number] if layout.delimiter == "," else _with_point(cells[number])
            name = rater if layout.rater is None else cells[layout.rater]
            yield RatingRow(cells[layout.query], cells[layout.doc_id], rating, name, line)


def find_layout(line: str) -> Layout | None:
    """Returns how a file is read whose first line this is; None if it is no file of ratings."""
    for delimiter in DELIMITERS:
        try:
            row = next(csv.reader([line], skipinitialspace=True, delimiter=delimiter), [])
        except csv.Error:
            continue
        cells = [unprotect(cell.strip()) for cell in row]
        layout = _find_columns(cells, delimiter)
        if layout is not None:
            return layout
        if len(cells) == len(COLUMNS) and all(cells[:2]):
            try:
                float(cells[2] if delimiter == "," else _with_point(cells[2]))
            except ValueError:
                continue
            return Layout(delimiter)
    return None


def _with_point(cell: str) -> str:
    """Returns a number with a decimal point instead of a comma; anything else as it is."""
    return _DECIMAL_COMMA.sub(r"\1.\2", cell)


def _find_columns(header: Sequence[str], delimiter: str) -> Layout | None:
    """Returns the columns that a header names; None if it is not one of ratings."""
    numbers = {cell.lower(): number for number, cell in enumerate(header)}
    queries = [numbers[name] for name in QUERY if name in numbers]
    doc_ids = [numbers[name] for name in DOC_ID if name in numbers]
    if not queries or not doc_ids or len(numbers) < len(header):
        return None
    query, doc_id = queries[0], doc_ids[0]
    ratings = [(number, cell) for number, cell in enumerate(header) if number not in (query, doc_id)]
    rater = None
    if RATING in numbers:
        ratings, rater = [(numbers[RATING], "")], numbers.get(RATER)
    elif not ratings or any(not name or name.lower() in NO_RATERS for _, name in ratings):
        return None
    return Layout(
        delimiter, len(header), query, doc_id, ratings, rater, True, RATING in numbers and "case name" in numbers
    )


def export_ratings(*, case: Case) -> Iterator[str]:
    """Yields the case's grades, one per row, in the order of its queries. A query without grades has a row of its own."""
    return write_rows(("query", "docid", "rating"), _grade_rows(case))


def _grade_rows(case: Case) -> Iterator[tuple[str, str, str]]:
    for query, grades in graded_queries(case):
        for doc_id, grade in grades.items():
            yield query.text, doc_id, f"{grade:.12g}"
        if not grades:
            yield query.text, "", ""
