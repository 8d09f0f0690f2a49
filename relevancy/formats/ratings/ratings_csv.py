"""Ratings as CSV: `query,docid,rating`, perhaps with further columns, or with a column for each rater."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from relevancy import scores
from relevancy.formats.cells import check_width, read_table, write_rows
from relevancy.formats.errors import BadFile, quote
from relevancy.models import Case, User
from relevancy.scoring import Scale

from .graded_queries import graded_queries
from .ratings_file import NoRatings, RatingRow, RatingsFile, collect
from .ratings_storage import ImportedRatings, store_ratings

COLUMNS = ("query", "docid", "rating")
DELIMITERS = (",", ";", "\t")
_DECIMAL_COMMA = re.compile(r"^([-+]?\d+),(\d+)$")
RATING, RATER = "rating", "rater"
QUERY = ("query", "query text", "query_text")
DOC_ID = ("docid", "doc_id", "doc id")
# Names of columns that are not those of raters.
NO_RATERS = frozenset(("position", "doc position", "rank", "score", "title"))


def parse_ratings(text: str | Iterable[str], scale: Scale | None = None) -> RatingsFile:
    """Reads a CSV text, or its lines. Raises `BadFile` with line, column and value.

    With a `scale`, ratings must be on it.
    """
    file = collect(read_ratings(text), scale)
    if not file:
        file.close()
        raise NoRatings
    return file


def read_ratings(text: str | Iterable[str]) -> Iterator[RatingRow]:
    """Yields the ratings of a CSV text, or of its lines, in one of three forms. Raises `BadFile`.

    With the columns `query`, `docid` and `rating` in any order, and perhaps `rater`; others are left out, such as those of a snapshot.
    With `query`, `docid` and a column for each rater, which has his or her name.
    Without a header: query, document id and rating.
    Cells are separated by commas, semicolons or tabs, the same everywhere in a file; with the last two, 1,5 is a number.
    """
    lines = iter(io.StringIO(text.removeprefix("\ufeff"), newline="") if isinstance(text, str) else text)
    beginning = list(_up_to_text(lines))
    opening = beginning[-1] if beginning else ""
    delimiter = find_delimiter(opening)
    rows = read_table(chain(beginning, lines), delimiter=delimiter)
    line, first = next(rows, (1, []))
    columns = _columns(first)
    if columns is None:
        if not _is_first_line(opening, delimiter):
            raise BadFile(
                f"the header is {quote(','.join(first))}; it must be 'query,docid,rating', perhaps with further columns.",
                line=1,
            )
        ratings = _without_header(chain([(line, first)], rows))
    else:
        ratings = _with_header(rows, columns, len(first))
    if delimiter == ",":
        return ratings
    return (row._replace(rating=_with_point(row.rating)) for row in ratings)


def find_delimiter(first: str) -> str:
    """Returns what separates the cells of a file of ratings, by its first line that is not blank; a comma if it is no such file."""
    return next((sign for sign in DELIMITERS if _is_first_line(first, sign)), ",")


def is_first_line(line: str) -> bool:
    """Returns whether a file that begins with a line has ratings, with a header or without."""
    return any(_is_first_line(line, sign) for sign in DELIMITERS)


def _is_first_line(line: str, delimiter: str) -> bool:
    try:
        cells = [cell.strip() for cell in next(csv.reader([line], skipinitialspace=True, delimiter=delimiter), [])]
    except csv.Error:
        return False
    if delimiter != "," and cells:
        cells[-1] = _with_point(cells[-1])
    return is_header(cells) or is_rating(cells)


def _with_point(cell: str) -> str:
    """Returns a number with a decimal point instead of a comma; anything else as it is."""
    return _DECIMAL_COMMA.sub(r"\1.\2", cell)


def _up_to_text(lines: Iterator[str]) -> Iterator[str]:
    """Yields the first line that is not blank, and those before it."""
    for line in lines:
        yield line
        if line.strip():
            return


@dataclass(frozen=True)
class _Columns:
    """The numbers of columns. ratings: number of a column, and the name of its rater. rater: the column that names it.

    may_be_short: rows of queries without documents end before the document, as in Quepid's detailed file.
    """

    query: int
    doc_id: int
    ratings: Sequence[tuple[int, str]]
    rater: int | None = None
    may_be_short: bool = False


def _columns(header: Sequence[str]) -> _Columns | None:
    """Returns the columns that a header names; None if it is not one of ratings."""
    names = [cell.strip().lower() for cell in header]
    if len(set(names)) < len(names):
        return None
    query, doc_id = (
        next((names.index(name) for name in accepted if name in names), None) for accepted in (QUERY, DOC_ID)
    )
    if query is None or doc_id is None:
        return None
    if RATING in names:
        rater = names.index(RATER) if RATER in names else None
        return _Columns(query, doc_id, [(names.index(RATING), "")], rater, "case name" in names)
    others = [(number, cell.strip()) for number, cell in enumerate(header) if number not in (query, doc_id)]
    if not others or any(not name or name.lower() in NO_RATERS for _, name in others):
        return None
    return _Columns(query, doc_id, others)


def _with_header(rows: Iterable[tuple[int, list[str]]], columns: _Columns, width: int) -> Iterator[RatingRow]:
    for line, cells in rows:
        if columns.may_be_short and columns.query < len(cells) <= columns.doc_id:
            cells += [""] * (width - len(cells))
        check_width(cells, width, line)
        query, doc_id = cells[columns.query], cells[columns.doc_id]
        for number, rater in columns.ratings:
            name = rater if columns.rater is None else cells[columns.rater].strip()
            yield RatingRow(query, doc_id, cells[number], name, line)


def _without_header(rows: Iterable[tuple[int, list[str]]]) -> Iterator[RatingRow]:
    for line, cells in rows:
        if len(cells) != len(COLUMNS):
            raise BadFile(
                f"{len(cells)} columns instead of {len(COLUMNS)} (query,docid,rating): {quote(','.join(cells))}.",
                line=line,
            )
        query, doc_id, rating = cells
        yield RatingRow(query, doc_id, rating, line=line)


def is_header(cells: Sequence[str]) -> bool:
    """Returns whether a row names the columns of ratings."""
    return _columns(cells) is not None


def is_rating(cells: Sequence[str]) -> bool:
    """Returns whether a row is a rating of a file without a header."""
    if len(cells) != len(COLUMNS) or not all(cells[:2]):
        return False
    try:
        float(cells[2])
    except ValueError:
        return False
    return True


def import_ratings(
    *, case: Case, text: str | Iterable[str], by: User, rater: User | None = None, source: str = "import"
) -> ImportedRatings:
    """Imports ratings, a CSV text or its lines, into the case's book, and adds missing queries to the case; see
    `ratings_storage.store_ratings`.

    Raises `BadFile` if anything is wrong, including a rating that is not on the scale; then nothing is stored.
    """
    with parse_ratings(text, scores.scale_of(case.book)) as file:
        return store_ratings(case=case, file=file, by=by, rater=rater, source=source)


def export_ratings(*, case: Case) -> Iterator[str]:
    """Yields the case's grades, one per row, in the order of its queries. A query without grades has a row of its own."""
    return write_rows(("query", "docid", "rating"), _grade_rows(case))


def _grade_rows(case: Case) -> Iterator[tuple[str, str, str]]:
    for query, grades in graded_queries(case):
        for doc_id, grade in grades.items():
            yield query.text, doc_id, f"{grade:.12g}"
        if not grades:
            yield query.text, "", ""
