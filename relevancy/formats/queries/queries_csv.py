"""Queries as CSV: text, information need, notes, tags, options, weight and reference answer. Reads Quepid's information needs, too."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from relevancy import queries
from relevancy.formats.cells import Cell, read_table, write_rows
from relevancy.formats.errors import BadFile, LineError, quote
from relevancy.formats.progress import count_rows
from relevancy.models import Case, CaseQuery
from relevancy.models.errors import error_text

QUERY = "query"
QUERY_COLUMNS = frozenset((QUERY, "query text", "query_text"))
DELIMITERS = (",", ";", "\t")
MAX_ERRORS = 20
CHUNK = 500  # queries in memory at once
_NUMBER = re.compile(r"\+?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


@dataclass(frozen=True)
class Column:
    """A column besides the query. Its name is an attribute of `queries.QueryDetails`.

    other_name: in files of other products, in lower case.
    read: makes a value of the text of a cell; raises `ValidationError`. write: makes the cell of the value.
    path: of the value, from a case query.
    """

    name: str
    path: str
    other_name: str = ""
    read: Callable[[str], Any] = str
    write: Callable[[Any], Cell] = str

    def find(self, header: Sequence[str]) -> int | None:
        """Returns the number of the column in a header in lower case; None if it does not have it."""
        return next(
            (number for number, cell in enumerate(header) if cell in (self.name, self.other_name or self.name)), None
        )


def _read_weight(text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise ValidationError(f"{quote(text)} is not a number. Write it like 2 or 0.5")
    return float(text)


def _write_options(options: dict[str, Any]) -> str:
    return json.dumps(options, ensure_ascii=False) if options else ""


COLUMNS = (
    Column("information_need", "query__information_need", "information need"),
    Column("notes", "query__notes"),
    Column("tags", "query__tags", write=", ".join),
    Column("options", "options", write=_write_options),
    Column("weight", "weight", read=_read_weight, write="{:.12g}".format),
    Column("reference_answer", "query__reference_answer", "reference answer"),
)
BY_NAME = {column.name: column for column in COLUMNS}
INFORMATION_NEEDS = (BY_NAME["information_need"],)


@dataclass(frozen=True)
class QueriesFile:
    """Queries of a file.

    pasted: their texts, and what is repeated or, in a list with a query on each line, left out.
    changes: the details that cells contain. An empty cell is none: it leaves what is there.
    errors: at most 20; with any, nothing can be imported. format: how the file is read.
    """

    pasted: queries.PastedQueries
    changes: queries.DetailChanges
    errors: Sequence[LineError] = ()
    format: str = ""


def parse_queries(lines: Iterable[str], spellings: Sequence[str] = ()) -> QueriesFile:
    """Reads the lines of a CSV file whose header has a column `query`; columns that are not in `COLUMNS` are left out.

    spellings: tags in use, whose upper and lower case is kept. Raises `BadFile` for what is not CSV and `ValidationError` for too many
    queries.
    """
    lines = iter(lines)
    first = next(lines, "").removeprefix("\ufeff")
    rows = read_table(chain([first], lines), delimiter=find_delimiter(first))
    _, cells = next(rows, (1, []))
    header = [cell.lower() for cell in cells]
    repeated = sorted({cell for cell in header if cell and header.count(cell) > 1})
    if repeated:
        raise BadFile(f"the header has the column {quote(repeated[0])} twice. Remove one.", line=1)
    query = next((number for number, cell in enumerate(header) if cell in QUERY_COLUMNS), None)
    if query is None:
        raise BadFile(f"the header is {quote(','.join(cells))}; it must have a column 'query'.", line=1)
    numbers = [(column, number) for column in COLUMNS if (number := column.find(header)) is not None]
    return _Reader(query, numbers, len(header), spellings).read(rows)


def find_delimiter(header: str) -> str:
    """Returns what separates the cells of a header: a comma; or a semicolon or tab, if the query is the first column."""
    return next((sign for sign in DELIMITERS[1:] if sign in header and _is_query(header.partition(sign)[0])), ",")


def is_header(line: str) -> bool:
    """Returns whether a line names a column of queries."""
    return any(map(_is_query, line.split(find_delimiter(line))))


def _is_query(cell: str) -> bool:
    return cell.strip().strip('"').strip().lower() in QUERY_COLUMNS


class _Reader:
    """Collects the queries of rows."""

    def __init__(self, query: int, columns: Sequence[tuple[Column, int]], width: int, spellings: Sequence[str]) -> None:
        self._query = query
        self._columns = columns
        self._width = width
        self._spellings = list(spellings)
        self._lines: dict[str, int] = {}  # where each query was first
        self._changes: dict[str, dict[str, Any]] = {}
        self._repeated: list[str] = []
        self._errors: list[LineError] = []

    def read(self, rows: Iterable[tuple[int, list[str]]]) -> QueriesFile:
        """Returns the queries. Raises `BadFile` and `ValidationError` as `parse_queries` does."""
        for line, cells in rows:
            try:
                self._add(line, cells)
            except ValidationError as error:
                self._errors.append(LineError(line, error_text(error)))
            if len(self._errors) == MAX_ERRORS:
                break
            if len(self._lines) > queries.MAX_QUERIES:
                raise BadFile(f"the file has more than {queries.MAX_QUERIES:,} queries. Split it.", line=line)
        pasted = queries.PastedQueries(texts=list(self._lines), repeated=self._repeated)
        return QueriesFile(pasted, self._changes, self._errors)

    def _add(self, line: int, cells: list[str]) -> None:
        if len(cells) > self._width and any(cells[self._width :]):
            raise ValidationError(f"{len(cells)} columns instead of {self._width}: {quote(','.join(cells))}.")
        cells += [""] * (self._width - len(cells))
        given = [(column, cells[number]) for column, number in self._columns if cells[number]]
        if not cells[self._query]:
            if given:
                raise ValidationError(f"Column {given[0][0].name}: {quote(given[0][1])} is in a row without a query.")
            return
        text = queries.check_text(cells[self._query])
        if text in self._lines:
            self._repeated.append(text)
        first = self._lines.setdefault(text, line)
        changes = self._changes.setdefault(text, {})
        for column, cell in given:
            value = self._read(column, cell, text)
            if changes.setdefault(column.name, value) != value:
                raise ValidationError(
                    f"Column {column.name}: {quote(cell)} is not what line {first} has for this query."
                )

    def _read(self, column: Column, cell: str, text: str) -> Any:
        try:
            value = queries.clean_detail(
                name=column.name, value=column.read(cell), text=text, spellings=self._spellings
            )
        except ValidationError as error:
            raise ValidationError(f"Column {column.name}: {error_text(error)}") from None
        if column.name == "tags":
            self._spellings += value
        return value


def export_queries(*, case: Case, columns: Sequence[Column] = COLUMNS) -> Iterator[str]:
    """Yields the queries of a case in their order. columns: besides the query; `INFORMATION_NEEDS` is the file of Quepid.

    The column of reference answers is left out if no query has one.
    """
    rows = case.case_queries.present().order_by("position", "id")
    if not rows.exclude(query__reference_answer="").exists():
        columns = [column for column in columns if column.name != "reference_answer"]
    return write_rows((QUERY, *(column.name for column in columns)), _rows(rows, columns))


def _rows(rows: QuerySet[CaseQuery], columns: Sequence[Column]) -> Iterator[Sequence[Cell]]:
    writers = [column.write for column in columns]
    values = rows.values_list("query__text", *(column.path for column in columns)).iterator(chunk_size=CHUNK)
    for text, *cells in count_rows(values):
        yield text, *[write(cell) for write, cell in zip(writers, cells, strict=True)]
