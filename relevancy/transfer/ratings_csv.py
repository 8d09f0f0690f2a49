"""Ratings as CSV: `query,docid,rating`."""

import math
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import batched
from typing import Self

from django.core.exceptions import ValidationError

from relevancy import judgments, queries, scores
from relevancy.models import Book, Case, User
from relevancy.models.errors import error_text
from relevancy.scoring import Scale

from .cells import read_rows, write_rows
from .errors import BadFile, quote
from .graded_queries import graded_queries

BATCH = 2_000
CACHE_KIB = 32_000
COLUMNS = (("query",), ("docid", "doc_id"), ("rating",))


@dataclass(frozen=True)
class ImportedRatings:
    """The result of an import.

    Attributes:
        queries: number of queries that are new to the case.
        changed: number of ratings that are new or have another value.
        ratings: number of ratings in the file.
    """

    queries: int
    changed: int
    ratings: int


class RatingsFile(Mapping[str, Mapping[str, float]]):
    """The ratings of a file, `{query: {document id: rating}}`, in the order of its queries.

    They are in a temporary database on disk: in memory, a million ratings take hundreds of megabytes. Close it after use.
    """

    def __init__(self) -> None:
        self.ratings = 0
        self._numbers: dict[str, int] = {}
        self._database = sqlite3.connect(
            "", isolation_level=None, check_same_thread=False
        )  # a private file, deleted when closed
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "temp_store = FILE", f"cache_size = -{CACHE_KIB}"):
            self._database.execute(f"PRAGMA {pragma}")
        self._database.execute(
            "CREATE TABLE rating (query INTEGER, doc_id TEXT, value REAL, PRIMARY KEY (query, doc_id)) WITHOUT ROWID"
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

    def __getitem__(self, query: str) -> dict[str, float]:
        number = self._numbers[query]
        return dict(
            self._database.execute("SELECT doc_id, value FROM rating WHERE query = ? ORDER BY doc_id", (number,))
        )

    def add_query(self, query: str, line: int) -> None:
        """Adds a query, which may be there already. Raises `BadFile` for more than can be added to a case."""
        self._numbers.setdefault(query, len(self._numbers))
        if len(self._numbers) > queries.MAX_QUERIES:
            raise BadFile(f"the file has more than {queries.MAX_QUERIES:,} queries. Split it.", line=line)

    def add(self, rows: Sequence[tuple[int, str, str, float]]) -> None:
        """Adds ratings: line, query, document id, value. Raises `BadFile` if a document has two different ones."""
        new = self._database.executemany(
            "INSERT OR IGNORE INTO rating VALUES (?, ?, ?)",
            [(self._numbers[query], doc_id, value) for _, query, doc_id, value in rows],
        ).rowcount
        self.ratings += new
        if new == len(rows):
            return
        for line, query, doc_id, value in rows:
            key = (self._numbers[query], doc_id)
            (earlier,) = self._database.execute(
                "SELECT value FROM rating WHERE query = ? AND doc_id = ?", key
            ).fetchone()
            if earlier != value:
                raise BadFile(
                    f"column rating: document {quote(doc_id)} of query {quote(query)} is rated {value:g} here and "
                    f"{earlier:g} in an earlier line.",
                    line=line,
                )


def parse_ratings(text: str | Iterable[str], scale: Scale | None = None) -> RatingsFile:
    """Reads a CSV text, or its lines. Raises `BadFile` with line, column and value.

    A row with an empty rating only names its query: the document is unrated. A byte order mark and CRLF are accepted.
    With a `scale`, ratings must be on it.
    """
    file = RatingsFile()
    try:
        for rows in batched(_read_ratings(file, text, scale), BATCH):
            file.add(rows)
    except BaseException:
        file.close()
        raise
    return file


def _read_ratings(
    file: RatingsFile, text: str | Iterable[str], scale: Scale | None
) -> Iterator[tuple[int, str, str, float]]:
    for line, (query_text, doc_id, rating) in read_rows(text, COLUMNS):
        query, rating = _parse_query(query_text, line), rating.strip()
        file.add_query(query, line)
        if not rating:
            continue
        if not doc_id.strip():
            raise BadFile(f"column docid is empty, but the rating is {quote(rating)}.", line=line)
        try:
            doc_id = judgments.clean_doc_id(doc_id)
        except (ValidationError, judgments.InvalidRating) as error:
            raise BadFile(f"column docid: {error_text(error)}", line=line) from None
        value = _parse_rating(rating, line)
        if scale is not None and not scale.contains(value):
            grades = f"{scale.grades[0]:g} to {scale.grades[-1]:g}"
            raise BadFile(
                f"column rating: {rating} of document {quote(doc_id)} is not on the book's scale, {grades}.", line=line
            )
        yield line, query, doc_id, value


def _parse_query(text: str, line: int) -> str:
    try:
        return _check_text(text)
    except ValidationError as error:
        raise BadFile(f"column query: {error_text(error)}", line=line) from None


@lru_cache(maxsize=1000)  # a file has many rows of one query
def _check_text(text: str) -> str:
    return queries.check_text(text)


def _parse_rating(text: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BadFile(f"column rating: {quote(text)} is not a number.", line=line)
    return value


def import_ratings(
    *, case: Case, text: str | Iterable[str], by: User, rater: User | None = None, source: str = "import"
) -> ImportedRatings:
    """Imports ratings, a CSV text or its lines, into the case's book as those of `rater`, and adds missing queries to the case.

    rater: `by` unless given.
    Raises `BadFile` if anything is wrong, including a rating that is not on the scale; then nothing is stored. Everybody sees the
    import at the same moment; see `judgments.import_ratings`.
    """
    with parse_ratings(text, scores.scale_of(case.book)) as file:
        try:
            changed, added = judgments.import_ratings(
                book=case.book,
                values=file,
                rater=rater or by,
                by=by,
                source=source,
                case=case,
                with_it=lambda ids: queries.add_prepared(case=case, query_ids=ids),
            )
        except judgments.ImportFailed as error:
            raise BadFile(error_text(error)) from None
        return ImportedRatings(added, changed, file.ratings)


def import_with_case(
    *,
    book: Book,
    text: str | Iterable[str],
    by: User,
    source: str = "import",
    create_case: Callable[[Sequence[int]], Case],
) -> Case:
    """Imports ratings as `import_ratings` does, into a new book, together with the case that it is for: both are there, or neither.

    book: from `cases.build_book`. create_case: creates the case on the book, with these queries of the book; called in the
    transaction that applies the import.
    """
    with parse_ratings(text, scores.scale_of(book)) as file:
        try:
            _, case = judgments.import_ratings(
                book=book, values=file, rater=by, by=by, source=source, with_it=create_case
            )
        except judgments.ImportFailed as error:
            raise BadFile(error_text(error)) from None
        return case


def export_ratings(*, case: Case) -> Iterator[str]:
    """Yields the case's grades, one per row, in the order of its queries. A query without grades has a row of its own."""
    return write_rows(("query", "docid", "rating"), _grade_rows(case))


def _grade_rows(case: Case) -> Iterator[tuple[str, str, str]]:
    for query, grades in graded_queries(case):
        for doc_id, grade in grades.items():
            yield query.text, doc_id, f"{grade:.12g}"
        if not grades:
            yield query.text, "", ""
