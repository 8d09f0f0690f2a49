"""Rates documents and removes ratings: one transaction with the log. A rating is stored whatever becomes of its score."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import batched
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from relevancy import hooks, scores
from relevancy.models import Book, Query, RatingChange, RatingImport, User
from relevancy.models.write_queue import write_turn

from .changes import REMOVAL, Change, store_changes

MAX_DOC_ID_LENGTH = 500
BATCH = 500
_INVALID_CHARACTERS = re.compile("[\x00\ud800-\udfff]")


class InvalidRating(ValidationError):
    """A rating that cannot be stored. The message is written for the rater."""

    def __str__(self) -> str:
        return " ".join(self.messages)


class ScaleChanged(InvalidRating):
    """A grade of a scale that the book no longer has. The message is written for the rater."""


class RatingRefused(InvalidRating):
    """The user may not rate in the book at present. The message is written for the rater."""


class RatingsChanged(ValidationError):
    """The ratings of a query have changed since the revision that the caller has seen. The message is written for the rater."""


def rate(
    *,
    query: Query,
    doc_id: str,
    value: float,
    by: User,
    note: str | None = None,
    source: str = "page",
    expected_scale: str = "",
) -> int:
    """Rates one document; see `rate_many`."""
    values = {doc_id: value}
    return rate_many(query=query, values=values, by=by, note=note, source=source, expected_scale=expected_scale)


def rate_many(
    *,
    query: Query,
    values: Mapping[str, float],
    by: User,
    note: str | None = None,
    source: str = "page",
    expected_revision: int | None = None,
    expected_scale: str = "",
) -> int:
    """Rates several documents of one query: `{document id: grade}`. Returns the number of ratings that changed.

    `expected_revision`: of the query, that the caller has seen. `expected_scale`: `Book.scale_key` of the scale that the rater has
    seen; empty for any. Computes no scores: those of the query are stale until `scores.rescore_query` or a worker computes them.

    Raises `InvalidRating`, which is `ScaleChanged` if the book has another scale, or `RatingsChanged` if the query has another
    revision; then nothing has been stored.
    """
    check_may_rate(query.book, by)
    check_scale(query.book, expected_scale)
    changes = {
        clean_doc_id(doc_id): Change(clean_value(value, query.book), note=note) for doc_id, value in values.items()
    }
    return change_query(
        query,
        lambda: changes,
        by=by,
        source=source,
        expected_revision=expected_revision,
        expected_scale=expected_scale,
    )


def remove(
    *,
    query: Query,
    doc_ids: Iterable[str],
    by: User,
    source: str = "page",
    expected_revision: int | None = None,
) -> int:
    """Removes the user's own ratings of some documents of one query. Returns how many; see `rate_many`."""
    changes = {doc_id.strip(): REMOVAL for doc_id in doc_ids}
    return change_query(query, lambda: changes, by=by, source=source, expected_revision=expected_revision)


def rate_book(
    *, book: Book, values: Mapping[int, Mapping[str, float]], rater: User, by: User, source: str = "import"
) -> int:
    """Rates documents of many queries: `{query id: {document id: grade}}`. Returns the number of ratings that changed.

    Computes no scores. Raises `InvalidRating`, in which case nothing has been stored.
    """

    def choose() -> Mapping[int, Mapping[str, Change]]:
        book.refresh_settings()
        return {
            query_id: {clean_doc_id(doc_id): Change(clean_value(value, book)) for doc_id, value in documents.items()}
            for query_id, documents in values.items()
        }

    return change_book(query_ids=values, choose=choose, rater=rater, by=by, source=source)


def change_book(
    *,
    query_ids: Iterable[int],
    choose: Callable[[], Mapping[int, Mapping[str, Change]]],
    rater: User,
    by: User,
    source: str,
) -> int:
    """Changes a rater's ratings of many queries. `choose` returns the changes by query id and document id, called while the queries
    are locked; those of other queries are ignored. Returns the number of ratings that changed. Computes no scores."""
    return change_raters(query_ids=query_ids, choose=lambda: [(rater, choose())], by=by, source=source)


def change_raters(
    *,
    query_ids: Iterable[int],
    choose: Callable[[], Iterable[tuple[User, Mapping[int, Mapping[str, Change]]]]],
    by: User,
    source: str,
) -> int:
    """Changes the ratings of several raters, one rater after the other, in one transaction. `choose` returns each rater with what
    `choose` of `change_book` returns. Returns the number of changes. Computes no scores."""
    query_ids = set(query_ids)
    count = 0
    changed: set[int] = set()
    with write_turn(), transaction.atomic():
        for locked in batched(sorted(query_ids), BATCH):
            scores.lock_queries(locked)
        if query_ids:
            check_open(book__queries=min(query_ids))
        for rater, chosen in choose():
            changes = {query_id: documents for query_id, documents in chosen.items() if query_id in query_ids}
            log = store_changes(changes, rater=rater, by=by, source=source)
            count += len(log)
            changed.update([logged.query_id for logged in log])
        scores.ratings_changed(sorted(changed))
    return count


def clean_doc_id(doc_id: str) -> str:
    """Returns a document id as it is stored, without surrounding spaces. Raises `InvalidRating` if no document can have it."""
    doc_id = doc_id.strip()
    if not doc_id:
        raise InvalidRating("The document id is empty.")
    if len(doc_id) > MAX_DOC_ID_LENGTH:
        raise InvalidRating(
            f"The document id {doc_id[:40]}… has {len(doc_id)} characters; the maximum is {MAX_DOC_ID_LENGTH}."
        )
    if _INVALID_CHARACTERS.search(doc_id):
        raise InvalidRating(
            f"The document id {doc_id[:40]!r} contains an invalid character (U+0000 or a lone surrogate). Remove it."
        )
    return doc_id


def clean_value(value: float, book: Book) -> float:
    """Returns a grade as it is stored. Raises `InvalidRating` if it is not on the scale of the book."""
    if not scores.scale_of(book).contains(value):
        raise InvalidRating(
            f"{value:g} is not on the scale of the book {book}. Choose a grade from {book.lowest:g} to {book.top:g}."
        )
    return float(value)


def find_refusal(book: Book, user: User) -> hooks.Refusal | None:
    """Returns why a user with the role rater may not rate in a book; None without a reason."""
    return next(filter(None, hooks.rating_refusal(book, user)), None)


def check_may_rate(book: Book, user: User) -> None:
    """Raises `RatingRefused` if there is a reason why the user may not rate in the book."""
    if refusal := find_refusal(book, user):
        raise RatingRefused(refusal.reason)


def check_open(*, advice: str = "Rate", **lookups: Any) -> None:
    """Raises `RatingRefused` while ratings are being imported into a book, or the import of them is being undone.

    Call it after locking the book, or queries whose ratings are to be changed. advice: what to do again later. lookups: of the book.
    """
    unfinished = RatingImport.objects.unfinished().filter(**lookups).first()
    if unfinished is not None:
        raise RatingRefused(
            f"Ratings are being imported into this book ({unfinished.percent} %). {advice} again when the import has ended."
        )


def check_scale(book: Book, expected: str) -> None:
    """Raises `ScaleChanged` unless the book has the scale that the rater has seen."""
    if expected and expected != book.scale_key:
        raise ScaleChanged(
            f"The scale of the book {book} has been changed since this page was opened, so the grade was not saved. Rate the document "
            "on the new scale."
        )


@contextmanager
def changing_ratings(query: Query, *, expected_scale: str = "") -> Iterator[list[RatingChange]]:
    """A transaction that changes ratings of one query. Yields the log of its changes, which the block fills; if it stays empty, nothing
    has happened.

    The query is locked, its revision is the next one, and the settings of its book have been read again. Raises `RatingRefused` and
    `ScaleChanged`.
    """
    log: list[RatingChange] = []
    revision = query.revision
    try:
        with write_turn(), transaction.atomic():
            scores.lock_queries([query.pk])  # a statement that waits for a lock would read the settings of before
            if Query.objects.increment_revision(query):
                check_open(book=query.book_id)
            check_scale(query.book, expected_scale)
            yield log
            if log:
                scores.cases_changed([query.pk])
            else:
                transaction.set_rollback(True)
                query.revision = revision
    except BaseException:
        query.revision = revision  # as in the database again
        raise


def change_query(
    query: Query,
    choose_changes: Callable[[], Mapping[str, Change]],
    *,
    by: User,
    source: str,
    expected_revision: int | None = None,
    expected_scale: str = "",
) -> int:
    """Stores a rater's changes of the ratings of one query with their log, and increments its revision. Returns the number of ratings
    that changed. `choose_changes` returns the changes by document id, called while the query is locked."""
    with changing_ratings(query, expected_scale=expected_scale) as log:
        if expected_revision not in (None, query.revision - 1):
            raise RatingsChanged(f"The ratings of “{query}” have changed since you read them. Read them again.")
        changes = choose_changes()
        for change in changes.values():  # the scale may have changed since the request began
            if change.value is not None:
                clean_value(change.value, query.book)
        log += store_changes({query.pk: changes}, rater=by, by=by, source=source)
    return len(log)
