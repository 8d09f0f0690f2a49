"""The ratings of a file, whatever its format: checked, and kept on disk until they are imported."""

import math
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import batched
from typing import NamedTuple, Self

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
MAX_VALUES = 1_000  # that are remembered


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


class NoRatings(BadFile):
    """A file has neither ratings nor queries."""

    def __init__(self) -> None:
        super().__init__("The file has no ratings.")


class RatingsFile(Mapping[str, list[GivenGrade]]):
    """The ratings of a file by query, in the order of its queries; those of a query by document id.

    The name of the rater is empty if the file does not say it. The ratings are in a temporary database on disk: in memory, a million
    of them take hundreds of megabytes. Close it after use.
    """

    def __init__(self) -> None:
        self.ratings = 0
        self._numbers: dict[str, int] = {}
        self._raters: dict[str, int] = {}
        self._database = sqlite3.connect(
            "", isolation_level=None, check_same_thread=False
        )  # a private file, deleted when closed
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "temp_store = FILE", f"cache_size = -{CACHE_KIB}"):
            self._database.execute(f"PRAGMA {pragma}")
        self._database.execute(
            "CREATE TABLE rating (query INTEGER, doc_id TEXT, rater INTEGER, value REAL, PRIMARY KEY (query, doc_id, rater)) "
            "WITHOUT ROWID"
        )
        self._database.execute("BEGIN")  # one transaction for all: it is never committed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

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

    def add_query(self, row: RatingRow, query: str) -> None:
        """Adds a query, which may be there already. Raises `BadFile` for more than can be added to a case."""
        if query in self._numbers:
            return
        self._numbers[query] = len(self._numbers)
        if len(self._numbers) > queries.MAX_QUERIES:
            raise BadFile(f"the file has more than {queries.MAX_QUERIES:,} queries. Split it.", line=row.line)

    def add(self, rows: Sequence[tuple[RatingRow, float]]) -> None:
        """Adds checked ratings and their values. Raises `BadFile` if a rater has rated a document differently before."""
        for row, _ in rows:
            if row.rater not in self._raters:
                self._add_rater(row)
        keys = [(self._numbers[row.query], row.doc_id, self._raters[row.rater]) for row, _ in rows]
        new = self._database.executemany(
            "INSERT OR IGNORE INTO rating VALUES (?, ?, ?, ?)",
            [(*key, value) for key, (_, value) in zip(keys, rows, strict=True)],
        ).rowcount
        self.ratings += new
        if new == len(rows):
            return
        for key, (row, value) in zip(keys, rows, strict=True):
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

    def _add_rater(self, row: RatingRow) -> None:
        self._raters[row.rater] = len(self._raters)
        if len(self.raters) > MAX_RATERS:
            raise row.error("rater", f": the file has more than {MAX_RATERS:,} raters. Split it.")


def collect(rows: Iterable[RatingRow], scale: Scale | None = None) -> RatingsFile:
    """Checks the ratings of a file. A row with an empty rating only names its query: the document is unrated.

    scale: which ratings must be on. Raises `BadFile` with line or location, column and value.
    """
    file = RatingsFile()
    try:
        for batch in batched(_checked(file, rows, scale), BATCH):
            file.add(batch)
    except BaseException:
        file.close()
        raise
    return file


def _checked(file: RatingsFile, rows: Iterable[RatingRow], scale: Scale | None) -> Iterator[tuple[RatingRow, float]]:
    values: dict[str, float] = {}  # of ratings as they are written that are on the scale: a file has few different ones
    for row in rows:
        query = _checked_query(row)
        file.add_query(row, query)
        rating = row.rating.strip()
        if not rating:
            continue
        if not row.doc_id.strip():
            raise row.error("docid", f" is empty, but the rating is {quote(rating)}.")
        try:
            doc_id = ratings.clean_doc_id(row.doc_id)
        except (ValidationError, ratings.InvalidRating) as error:
            raise row.error("docid", f": {error_text(error)}") from None
        value = values.get(rating)
        if value is None:
            value = _number(row, rating)
            if scale is not None and not scale.contains(value):
                grades = f"{scale.grades[0]:g} to {scale.grades[-1]:g}"
                raise row.error(
                    "rating",
                    f": {quote(rating)[1:-1]} of document {quote(doc_id)} is not on the book's scale, {grades}.",
                )
            if len(values) < MAX_VALUES:
                values[rating] = value
        rater = row.rater
        if rater:
            if "\x00" in rater:
                raise row.error("rater", f": {quote(rater)} contains the character U+0000.")
            if len(rater) > MAX_NAME:
                raise row.error("rater", f": {quote(rater)} is longer than {MAX_NAME} characters.")
            rater = " ".join(rater.split())
        yield RatingRow(query, doc_id, rating, rater, row.line, row.location), value


def _checked_query(row: RatingRow) -> str:
    try:
        return _check_text(row.query)
    except ValidationError as error:
        raise row.error("query", f": {error_text(error)}") from None


@lru_cache(maxsize=1000)  # a file has many rows of one query
def _check_text(text: str) -> str:
    return queries.check_text(text)


def _number(row: RatingRow, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise row.error("rating", f": {quote(text)} is not a number.")
    return value
