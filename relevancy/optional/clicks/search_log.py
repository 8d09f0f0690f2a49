"""Search logs: how often queries were searched, what was shown, and what was clicked. As CSV; for UBI see `ubi`."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import batched
from typing import IO, NamedTuple, Self

import numpy as np
from django.core.exceptions import ValidationError

from relevancy import queries, ratings
from relevancy.formats.cells import check_width, find_columns, parse_count, read_lines, read_table
from relevancy.formats.errors import BadFile, quote
from relevancy.models.errors import error_text
from relevancy.statistics.arrays import IntArray

MAX_BYTES = 2 * 1024**3
MAX_ON_PAGE = 50 * 1024 * 1024  # less than `MAX_REQUEST_SIZE`; a web thread is busy as long as it is read
MAX_POSITION = 1_000
MAX_LEFT_OUT = 20  # lines that are listed
BATCH = 2_000
CACHE_KIB = 32_000
_NAMES = {
    "query": ("query",),
    "count": ("count", "searches", "impressions"),
    "docid": ("docid", "doc_id"),
    "position": ("position", "rank"),
    "clicks": ("clicks",),
}
_OF_CLICKS = ("docid", "position", "clicks")


class ShownDocument(NamedTuple):
    """How often a document was shown at a position for a query, and in how many of these searches it was clicked.

    examined, last: if the log has single searches, how often users had looked at it if they read down to their last click, or to the
    end without one; and how often it was the last click.
    """

    query: str
    doc_id: str
    position: int
    shown: int
    clicks: int
    examined: int = 0
    last: int = 0


@dataclass
class LeftOut:
    """Searches whose text cannot be a query. lines: the first ones, with the reason."""

    searches: int = 0
    lines: list[tuple[int, str]] = field(default_factory=list)

    def add(self, line: int, reason: str, searches: int) -> None:
        """Counts a line that is left out."""
        self.searches += searches
        if len(self.lines) < MAX_LEFT_OUT:
            self.lines.append((line, reason))


class SearchLog:
    """The counts of a log, in a temporary database on disk: memory does not grow with the file. Close it after use.

    left_out: searches whose text cannot be a query. remarks: what else was left out.
    """

    def __init__(self) -> None:
        self.left_out = LeftOut()
        self.remarks: list[str] = []
        self.database = sqlite3.connect(
            "", isolation_level=None, check_same_thread=False
        )  # private, deleted when closed
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "temp_store = FILE", f"cache_size = -{CACHE_KIB}"):
            self.database.execute(f"PRAGMA {pragma}")
        # searches: as counted by the log itself; without that, what was shown says how many searches there were.
        self.database.execute("CREATE TABLE query (text TEXT PRIMARY KEY, searches INTEGER) WITHOUT ROWID")
        self.database.execute(
            "CREATE TABLE shown (query TEXT, doc_id TEXT, position INTEGER, shown INTEGER, clicks INTEGER, examined INTEGER, "
            "last INTEGER, PRIMARY KEY (query, doc_id, position)) WITHOUT ROWID"
        )
        self.database.execute("BEGIN")  # one transaction for all: it is never committed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Deletes the temporary database."""
        self.database.close()

    def add_searches(self, rows: Iterable[tuple[str, int]]) -> None:
        """Adds searches of checked queries."""
        self.database.executemany(
            "INSERT INTO query VALUES (?, ?) ON CONFLICT DO UPDATE SET searches = searches + excluded.searches", rows
        )

    def add_shown(self, rows: Iterable[ShownDocument]) -> None:
        """Adds what was shown for checked queries. It does not count as searches."""
        self.database.executemany(
            "INSERT INTO shown VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET shown = shown + excluded.shown, "
            "clicks = clicks + excluded.clicks, examined = examined + excluded.examined, last = last + excluded.last",
            rows,
        )

    @property
    def has_clicks(self) -> bool:
        """Whether the log says what was shown."""
        return bool(self.database.execute("SELECT EXISTS (SELECT 1 FROM shown)").fetchone()[0])

    @property
    def has_single_searches(self) -> bool:
        """Whether the log says what was clicked in each search, in which order of positions."""
        return bool(self.database.execute("SELECT EXISTS (SELECT 1 FROM shown WHERE examined)").fetchone()[0])

    def counts(self) -> IntArray:
        """Returns [N] how often each query was searched, in the order of their texts. Queries without a search are left out.

        A query that the log has no count for was searched as often as documents were shown at the position where most were.
        """
        return np.fromiter((count for _, count in self._counted()), dtype=np.int64)

    def texts(self, indices: Sequence[int]) -> list[tuple[str, int]]:
        """Returns `(query, searches)` of the queries at these indices of `counts`, in their order."""
        wanted = set(indices)
        text_by_index = {number: row for number, row in enumerate(self._counted()) if number in wanted}
        return [text_by_index[index] for index in indices]

    def _counted(self) -> Iterator[tuple[str, int]]:
        return self.database.execute(
            "SELECT text, searches FROM query WHERE searches > 0 UNION ALL SELECT query, MAX(shown) FROM "
            "(SELECT query, SUM(shown) AS shown FROM shown GROUP BY query, position) "
            "WHERE query NOT IN (SELECT text FROM query) GROUP BY query HAVING MAX(shown) > 0 ORDER BY 1"
        )

    def shown(self) -> Iterator[ShownDocument]:
        """Yields what was shown, sorted by query and document."""
        statement = "SELECT * FROM shown WHERE shown > 0 ORDER BY query, doc_id, position"
        return map(ShownDocument._make, self.database.execute(statement))


def read_csv(file: IO[bytes], *, limit: int = MAX_BYTES) -> SearchLog:
    """Reads a log as CSV with a header: `query`, and perhaps `count`, `docid`, `position` and `clicks`; others are left out.

    Without a count, each row is one search. In a row with a document, the count says how often it was shown at this position, and the
    clicks in how many of these searches it was clicked. Rows of the same query, document and position are added up.
    limit: of bytes. Raises `BadFile` with line, column and value. Close the log after use.
    """
    log = SearchLog()
    try:
        rows = read_table(read_lines(file, limit=limit))
        _, header = next(rows, (1, []))
        columns = _columns(header)
        for batch in batched(_checked(log, rows, columns, len(header)), BATCH):
            log.add_searches((row.query, row.shown) for row in batch if not row.doc_id)
            log.add_shown(row for row in batch if row.doc_id)
    except BaseException:
        log.close()
        raise
    return log


def _columns(header: Sequence[str]) -> dict[str, int]:
    columns = find_columns(header, _NAMES)
    if "query" not in columns:
        raise BadFile(
            f"the header is {quote(','.join(header))}; it must have a column 'query', and may have 'count'.", line=1
        )
    missing = [column for column in _OF_CLICKS if column not in columns]
    if 0 < len(missing) < len(_OF_CLICKS):
        raise BadFile(f"clicks need the columns docid, position and clicks; missing: {', '.join(missing)}.", line=1)
    return columns


def _checked(
    log: SearchLog, rows: Iterable[tuple[int, list[str]]], columns: dict[str, int], width: int
) -> Iterator[ShownDocument]:
    """Yields checked rows; those of searches have no document."""
    for line, cells in rows:
        check_width(cells, width, line)
        values = {name: cells[number] for name, number in columns.items()}
        count = parse_count(values["count"], "count", line) if "count" in values else 1
        text, problem = check_query(values["query"])
        if problem:
            log.left_out.add(line, problem, 0 if values.get("docid") else count)
            continue
        if not values.get("docid"):
            if values.get("position") or values.get("clicks", "0") not in {"", "0"}:
                raise BadFile("column docid is empty, but the row has a position or clicks.", line=line)
            yield ShownDocument(text, "", 0, count, 0)
            continue
        yield ShownDocument(text, *_clicked(values, count, line))


def _clicked(values: dict[str, str], count: int, line: int) -> tuple[str, int, int, int]:
    doc_id = check_doc_id(values["docid"], "column docid", line)
    position = parse_count(values["position"], "position", line)
    if not 1 <= position <= MAX_POSITION:
        raise BadFile(
            f"column position: {quote(values['position'])} is not a position from 1 to {MAX_POSITION:,}.", line=line
        )
    clicks = parse_count(values["clicks"], "clicks", line)
    if clicks > count:
        raise BadFile(
            f"column clicks: {quote(values['clicks'])} is more than the {count:,} searches in which the document was shown. "
            "Count each search once.",
            line=line,
        )
    return doc_id, position, count, clicks


@lru_cache(maxsize=1000)  # a log has many rows of one query
def check_query(text: str) -> tuple[str, str]:
    """Returns the text as it is stored, and why it cannot be a query; one of them is empty."""
    try:
        return queries.check_text(text), ""
    except ValidationError as error:
        return "", error_text(error)


def check_doc_id(doc_id: str, where: str, line: int) -> str:
    """Returns a document id as it is stored. Raises `BadFile`."""
    try:
        return ratings.clean_doc_id(doc_id)
    except ValidationError as error:
        raise BadFile(f"{where}: {error_text(error)}", line=line) from None
