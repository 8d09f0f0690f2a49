"""The ratings of a file, whatever its format: checked, and kept on disk until they are imported."""

import math
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import batched
from typing import NamedTuple

from django.core.exceptions import ValidationError

from relevancy import queries, ratings
from relevancy.formats.errors import BadFile, quote
from relevancy.models.errors import error_text
from relevancy.ratings import GivenGrade
from relevancy.scoring import Scale

BATCH = 2_000
CACHE_KIB = 32_000
MAX_RATERS = 1_000
MAX_NAME = 191
_check_text = lru_cache(maxsize=1000)(queries.check_text)  # a file has many rows of one query


class RatingRow(NamedTuple):
    """A rating as a file has it, unchecked.

    rating: as written; empty if the document is unrated. rater: a name or an e-mail address; empty if the file does not say who rated.
    line: from 1, of a text file. location: in a JSON file, such as `queries[3].relevant_documents`.
    """

    query: str
    doc_id: str
    rating: str
    rater: str = ""
    line: int | None = None
    location: str = ""

    def error(self, column: str, problem: str) -> BadFile:
        """Returns an error that names the line and the column, or the place in a JSON file."""
        where = f"column {column}" if self.line else f"{self.location}, {column}"
        return BadFile(f"{where}{problem}", line=self.line)


type CheckedRow = tuple[RatingRow, tuple[int, str, int, float]]
"""A row, and what of it is kept: number of the query, document id, number of the rater, grade."""


class RatingsFile(Mapping[str, list[GivenGrade]]):
    """The ratings of a file by query, in the order of its queries; those of a query by document id.

    The name of the rater is empty if the file does not say it. The ratings are in a temporary database on disk: in memory, a million
    of them take hundreds of megabytes. Close it after use.
    """

    def __init__(self, rows: Iterable[RatingRow], scale: Scale | None = None) -> None:
        """Checks the ratings of a file. A row with an empty rating only names its query: the document is unrated.

        scale: which ratings must be on. Raises `BadFile` with line or location, column and value.
        """
        self.ratings = 0
        self._scale = scale
        self._numbers: dict[str, int] = {}
        self._raters: dict[str, int] = {}
        self._database = sqlite3.connect(
            "", isolation_level=None, check_same_thread=False
        )  # a private file, deleted when closed
        try:
            for pragma in (
                "journal_mode = OFF",
                "synchronous = OFF",
                "temp_store = FILE",
                f"cache_size = -{CACHE_KIB}",
            ):
                self._database.execute(f"PRAGMA {pragma}")
            self._database.execute(
                "CREATE TABLE rating (query INTEGER, doc_id TEXT, rater INTEGER, value REAL, PRIMARY KEY (query, doc_id, rater)) "
                "WITHOUT ROWID"
            )
            self._database.execute("BEGIN")  # one transaction for all: it is never committed
            for batch in batched(filter(None, map(self._check, rows)), BATCH):
                self._add(batch)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Deletes the temporary database."""
        self._database.close()

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, query: str) -> list[GivenGrade]:
        statement = "SELECT doc_id, rater, value FROM rating WHERE query = ? ORDER BY doc_id, rater"
        names = list(self._raters)
        rows = self._database.execute(statement, (self._numbers[query],))
        return [(doc_id, names[rater], value) for doc_id, rater, value in rows]

    @property
    def raters(self) -> list[str]:
        """The names of the raters, in the order of the file."""
        return [name for name in self._raters if name]

    @property
    def has_unnamed(self) -> bool:
        """Whether there are ratings without the name of a rater."""
        return "" in self._raters

    def _check(self, row: RatingRow) -> CheckedRow | None:
        """Returns what is kept of a row; None if it only names a query."""
        try:
            query = self._numbers.setdefault(_check_text(row.query), len(self._numbers))
        except ValidationError as error:
            raise row.error("query", f": {error_text(error)}") from None
        if query == queries.MAX_IMPORTED:
            raise BadFile(f"the file has more than {queries.MAX_IMPORTED:,} queries. Split it.", line=row.line)
        rating = row.rating.strip()
        if not rating:
            return None
        if not row.doc_id.strip():
            raise row.error("docid", f" is empty, but the rating is {quote(rating)}.")
        try:
            doc_id = ratings.clean_doc_id(row.doc_id)
        except ValidationError as error:
            raise row.error("docid", f": {error_text(error)}") from None
        try:
            value = float(rating)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise row.error("rating", f": {quote(rating)} is not a number.")
        if self._scale is not None and not self._scale.contains(value):
            grades = f"{self._scale.grades[0]:g} to {self._scale.grades[-1]:g}"
            raise row.error(
                "rating", f": {quote(rating)[1:-1]} of document {quote(doc_id)} is not on the book's scale, {grades}."
            )
        rater = self._raters.get(row.rater)
        return row, (query, doc_id, self._add_rater(row) if rater is None else rater, value)

    def _add_rater(self, row: RatingRow) -> int:
        name = " ".join(row.rater.split())
        if "\x00" in name:
            raise row.error("rater", f": {quote(row.rater)} contains the character U+0000.")
        if len(name) > MAX_NAME:
            raise row.error("rater", f": {quote(row.rater)} is longer than {MAX_NAME} characters.")
        number = self._raters.setdefault(name, len(self._raters))
        if len(self.raters) > MAX_RATERS:
            raise row.error("rater", f": the file has more than {MAX_RATERS:,} raters. Split it.")
        return number

    def _add(self, rows: Sequence[CheckedRow]) -> None:
        """Keeps ratings. Raises `BadFile` if a rater has rated a document differently before."""
        insert = "INSERT OR IGNORE INTO rating VALUES (?, ?, ?, ?)"
        new = self._database.executemany(insert, [rating for _, rating in rows]).rowcount
        self.ratings += new
        if new == len(rows):
            return
        for row, (*key, value) in rows:
            (earlier,) = self._database.execute(
                "SELECT value FROM rating WHERE query = ? AND doc_id = ? AND rater = ?", key
            ).fetchone()
            if earlier != value:
                by = f" by {quote(row.rater)}" if row.rater else ""
                raise row.error(
                    "rating",
                    f": document {quote(row.doc_id)} of query {quote(row.query)} is rated {value:g}{by} here and {earlier:g} before. "
                    "Keep one of them.",
                )
