"""Creates books: an empty one, or one with the ratings of many people in short transactions: no one waits for a large file or sees a
part of it.

See docs/decisions/0060.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import batched
from typing import Any

from django.db import DatabaseError, transaction

from relevancy import queries, scoring
from relevancy.models import Book, RatingImport, User
from relevancy.models.saving import clean_and_save
from relevancy.queries import QueryDetails
from relevancy.ratings.imports import ensure_raters, note_progress, short_transaction, undo_import
from relevancy.ratings.new_ratings import NewRating

from .copying import store_ratings

QUERIES_AT_ONCE = 500  # in one transaction
RATINGS_AT_ONCE = 10_000  # with as many changes in the log: about 300 ms


def create_book(*, name: str, scale: Sequence[Sequence[Any]], texts: Sequence[str], by: User) -> Book:
    """Creates a book with a scale and normalized queries, for a case that comes later. Raises `ValidationError`."""
    relevant_from = scoring.Scale(tuple([float(grade) for grade, _ in scale])).relevant_from
    book = Book(name=name, owner=by, scale=scale, relevant_from=relevant_from)
    with transaction.atomic():
        clean_and_save(book)
        queries.ensure(book=book, texts=texts)
    return book


class BookBuilder:
    """Fills a book that is still hidden; see `build_book`."""

    def __init__(self, record: RatingImport, source: str) -> None:
        self._record = record
        self._source = source

    def add_queries(self, details: Mapping[str, QueryDetails]) -> dict[str, int]:
        """Adds queries with what is known of them, by normalized text. Returns `{text: query id}`. Raises `ValidationError`."""
        book, ids = self._record.book, dict[str, int]()
        for texts in batched(details, QUERIES_AT_ONCE):
            with short_transaction():
                note_progress(self._record)
                ids |= queries.ensure(book=book, texts=texts)
                queries.describe_all(book=book, details={text: details[text] for text in texts})
        return ids

    def add_links(self, links: Iterable[Sequence[int]]) -> None:
        """Links queries; see `queries.create_links`."""
        for batch in batched(links, QUERIES_AT_ONCE):
            with short_transaction():
                note_progress(self._record)
                queries.create_links(book=self._record.book, links=batch)

    def ensure_raters(self, names: Collection[str]) -> dict[str, int]:
        """Returns the ids of raters by name; see `accounts.ensure_raters`. Those that are created are deleted if the import fails."""
        return ensure_raters(self._record, names)

    def store(self, ratings: Iterable[NewRating]) -> None:
        """Stores ratings in the given order, with their log. Raises `IntegrityError` for two of one rater and document."""
        for batch in batched(ratings, RATINGS_AT_ONCE):  # reads the file outside of transactions
            with short_transaction():
                note_progress(self._record)
                store_ratings(ratings=batch, by=self._record.by, source=self._source)


@contextmanager
def build_book(*, book: Book, by: User, source: str) -> Iterator[BookBuilder]:
    """Creates a book that stays hidden until the block has ended. After an error it is deleted with everything in it; if the process
    dies, `sweep_imports` does that.

    Raises `ValidationError` for the book, and `ImportFailed` if the import had made no progress for minutes.
    """
    with short_transaction():
        clean_and_save(book)
        record = RatingImport.objects.create(book=book, by=by, source=source, is_first=True)
    try:
        yield BookBuilder(record, source)
        with short_transaction():
            note_progress(record)
            RatingImport.objects.filter(pk=record.pk).delete()
    except BaseException:
        with suppress(DatabaseError):  # `sweep_imports` deletes it later
            undo_import(record)
        raise
