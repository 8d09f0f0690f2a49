"""Imports ratings in short transactions, so that no one waits for a large file, and shows them all at once.

Changes are written as `ImportedRating`, which are hidden, then one transaction applies them: from then on they count. At last
they become rows of `Rating`; few of them do so in the same transaction. If the process dies before they are applied,
`sweep_imports` deletes them; after that it finishes.

See docs/decisions/0060.
"""

import logging
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import batched
from typing import Any

from django.core.exceptions import ValidationError
from django.db import DatabaseError, OperationalError, connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from relevancy import accounts, activity, queries, scores
from relevancy.models import (
    Activity,
    Book,
    Case,
    ImportedRating,
    Query,
    Rating,
    RatingChange,
    RatingImport,
    User,
    current_ratings,
)
from relevancy.models.saving import clean_and_save
from relevancy.models.write_queue import write_turn

from .imported_rows import Row, insert, move_range

CHUNK = 10_000  # ratings written in one transaction: less than 200 ms
DELETED_AT_ONCE = 2_000
BATCH = 500  # ids in one SQL statement
MOVED_AT_ONCE = 5_000  # ratings that are moved by the transaction that applies them
MAX_REPEATED = 50  # queries compared again in the transaction that applies an import
MAX_ROUNDS = 5
DEAD_AFTER = timedelta(minutes=5)  # without progress
log = logging.getLogger("relevancy.ratings")

type GivenGrade = tuple[str, str, float]
"""Document id, name of the rater, grade. The name is empty for the rater that `import_ratings` is given."""

type Values = Mapping[str, Sequence[GivenGrade]]
"""The grades of each query, one of each rater and document; texts, ids and grades are checked. May read them from a file."""


class ImportFailed(ValidationError):
    """An import that could not be finished. Nothing has changed. The message is written for the user."""


def import_ratings[T](
    *,
    book: Book,
    values: Values,
    rater: User,
    raters: Collection[str] = (),
    by: User,
    source: str = "import",
    case: Case | None = None,
    with_it: Callable[[Sequence[int]], T],
) -> tuple[int, T]:
    """Imports ratings into a book. Returns how many are new or changed, and what `with_it` returned.

    book: if it is not saved yet, it is created, and deleted again if the import fails.
    rater: of the ratings without a name. raters: the names of the others; who is not known becomes a rater that cannot sign in, and
        is deleted again if the import fails; see `accounts.ensure_raters`. No user may have rated a document under two names.
    with_it: adds the queries to a case, in the transaction that applies the import. It gets their ids in the order of the file,
        must be short, and may be called again after a rollback.
    case: locked in that transaction, before the queries.

    Computes no scores. Raises `ImportFailed`, `ValidationError` for a name, and what `with_it` raises; then nothing has changed.
    """
    is_first = book.pk is None
    if not is_first:
        sweep_imports(book)
    with short_transaction():
        if is_first:
            clean_and_save(book)
        record = RatingImport.objects.create(
            book=book, by=by, source=source, is_first=is_first, progressed_at=timezone.now()
        )
    try:
        writer = _ImportWriter(record, values, {"": rater.pk, **ensure_raters(record, raters)})
        writer.write(list(values))
        result = writer.apply(case, with_it)
    except BaseException:
        with suppress(DatabaseError):  # `sweep_imports` deletes it later
            discard(record)
        raise
    try:
        move(record)
    except OperationalError:
        log.exception(
            "The ratings of an import into %s count, but are not yet moved. `sweep_imports` moves them.", book
        )
    return writer.changed, result


def sweep_imports(book: Book | None = None) -> list[int]:
    """Finishes imports whose process has died: those that were applied are moved, of the others everything is deleted.

    book: only this book's. Returns the ids of the books whose ratings were moved.
    """
    dead = RatingImport.objects.filter(progressed_at__lt=timezone.now() - DEAD_AFTER)
    moved = []
    for record in dead if book is None else dead.filter(book=book):
        if record.applied_at is None:
            discard(record)
        else:
            move(record)
            moved.append(record.book_id)
    return moved


def discard(record: RatingImport) -> None:
    """Deletes everything that an import has written, unless it was applied."""
    if not RatingImport.objects.filter(pk=record.pk, applied_at=None).update(is_discarded=True):
        return
    _delete_in_parts(record.ratings.all(), CHUNK)
    is_unseen = record.is_first and not record.book.cases.exists()  # until the book is deleted, the row hides it
    if is_unseen:
        _delete_ratings(record.book)
    for ids in batched(record.new_raters, BATCH):
        with short_transaction():
            accounts.delete_unused_raters(ids)
    if is_unseen:
        with short_transaction():
            record.book.delete()
        return
    record.delete()
    if not RatingImport.objects.filter(book=record.book_id).exists():
        queries.delete_prepared(book=record.book)


def _delete_ratings(book: Book) -> None:
    """Deletes the queries of a book that is still hidden, with their ratings; see `build_book`."""
    for rows in (RatingChange.objects.filter(query__book=book), Rating.objects.filter(query__book=book)):
        _delete_in_parts(rows, DELETED_AT_ONCE)
    _delete_in_parts(book.queries.all(), BATCH)


def _delete_in_parts(rows: QuerySet[Any], size: int) -> None:
    while ids := list(rows.order_by("pk").values_list("pk", flat=True)[:size]):
        with short_transaction():
            rows.filter(pk__range=(ids[0], ids[-1])).delete()


def move(record: RatingImport) -> None:
    """Moves the ratings of an applied import, and deletes its row. May be called by several processes at once."""
    _move_rows(record, notes_progress=True)
    RatingImport.objects.filter(pk=record.pk).delete()


def finish_imports(book: Book) -> None:
    """Makes everything that was imported into a book and counts rows of `Rating`, and deletes what a dead process has written that
    does not count. For readers and writers who need all rows of `Rating`; call it before their transaction.

    The rows of `RatingImport` stay, so that `sweep_imports` still reports the book, whose scores have to be computed.
    """
    for record in RatingImport.objects.filter(book=book):
        if record.applied_at is not None:
            _move_rows(record, notes_progress=False)
        elif record.progressed_at < timezone.now() - DEAD_AFTER:
            discard(record)


def _move_rows(record: RatingImport, *, notes_progress: bool) -> None:
    last = 0
    while rows := list(record.ratings.filter(pk__gt=last).order_by("pk").values_list("pk", "query_id")[:CHUNK]):
        first, last = rows[0][0], rows[-1][0]
        with short_transaction():
            query_ids = sorted({query_id for _, query_id in rows})
            for batch in batched(query_ids, BATCH):
                scores.lock_queries(batch)
            move_range(record, first, last, query_ids)
            if notes_progress:
                RatingImport.objects.filter(pk=record.pk).update(progressed_at=timezone.now())


def ensure_raters(record: RatingImport, names: Collection[str]) -> dict[str, int]:
    """Returns the ids of the raters of an import by name. Those that are created are noted with it; `discard` deletes them.

    Raises `ValidationError` for a name that cannot be stored.
    """
    raters: dict[str, int] = {}
    for batch in batched(names, BATCH):
        with short_transaction():
            present = accounts.find_raters(batch, by=record.by)
            users = accounts.ensure_raters(batch, by=record.by)
            record.new_raters += [user.pk for name, user in users.items() if name not in present]
            note_progress(record, new_raters=record.new_raters)
            raters |= {name: user.pk for name, user in users.items()}
    return raters


@dataclass
class _ImportWriter:
    """Writes the ratings of a file that differ from the present ones of their raters, and applies them.

    raters, query_ids: ids by name and by text.
    revisions, changes, of_others: of each query, its revision when its ratings were compared, how many differ, and how many of
        these are not those of who imports them.
    """

    record: RatingImport
    values: Values
    raters: Mapping[str, int]
    query_ids: dict[str, int] = field(default_factory=dict)
    revisions: dict[int, int] = field(default_factory=dict)
    changes: dict[int, int] = field(default_factory=dict)
    of_others: dict[int, int] = field(default_factory=dict)

    @property
    def changed(self) -> int:
        """The number of ratings that are new or have another grade."""
        return sum(self.changes.values())

    def write(self, texts: Sequence[str]) -> None:
        """Writes what differs now. May be called again for queries whose ratings have changed since."""
        self.query_ids |= queries.prepare(book=self.record.book, texts=texts)
        for documents in self._batches(texts):
            written = self.revisions.keys() & documents
            rows = self._compare(documents)
            with short_transaction():
                note_progress(self.record)
                if written:
                    ImportedRating.objects.filter(rating_import=self.record, query_id__in=written).delete()
                insert(self.record, rows[:CHUNK])
            for more in batched(rows[CHUNK:], CHUNK):
                with short_transaction():
                    note_progress(self.record)
                    insert(self.record, more)

    def apply[T](self, case: Case | None, with_it: Callable[[Sequence[int]], T]) -> T:
        """Lets the import count, with all that belongs to it, in one transaction."""
        for _ in range(MAX_ROUNDS):
            for other in self._others():
                move(other)
            with short_transaction():
                if case is not None and not Case.objects.select_for_update(no_key=True).filter(pk=case.pk):
                    raise ImportFailed(f"The case “{case}” was deleted during the import; nothing was imported.")
                for batch in batched(sorted(self.query_ids.values()), BATCH):
                    scores.lock_queries(batch)
                self._lock_raters()
                outdated = self._outdated()
                if len(outdated) <= MAX_REPEATED and not self._others().exists():
                    self.write(outdated)
                    self._set_applied()
                    result = with_it(list(self.query_ids.values()))
                    activity.record_for_book(
                        Activity.Verb.RATINGS_IMPORTED,
                        book=self.record.book,
                        by=self.record.by,
                        count=self.changed,
                        of_others=sum(self.of_others.values()),
                    )
                    if self.changed <= MOVED_AT_ONCE:
                        move(self.record)
                    return result
            self.write(outdated)
        raise ImportFailed(
            "Others are changing too many of these ratings at the moment; nothing was imported. Try again later."
        )

    def _others(self) -> QuerySet[RatingImport]:
        """Other imports of the book that count, but are not moved yet: changes of their ratings would be lost."""
        return RatingImport.objects.filter(book=self.record.book, applied_at__isnull=False).exclude(pk=self.record.pk)

    def _lock_raters(self) -> None:
        """Locks the raters until the import counts: `accounts.delete_unused_raters` must not delete them meanwhile."""
        for batch in batched(sorted(set(self.raters.values())), BATCH):
            locked = User.objects.select_for_update(no_key=True).filter(pk__in=batch).order_by("pk")
            if len(locked.values_list("pk")) < len(batch):
                raise ImportFailed("A rater was deleted during the import; nothing was imported. Start it again.")

    def _batches(self, texts: Sequence[str]) -> Iterator[dict[int, Sequence[GivenGrade]]]:
        """Yields the grades by query id, about `CHUNK` of them, or more of one query."""
        documents: dict[int, Sequence[GivenGrade]] = {}
        size = 0
        for text in texts:
            values = self.values[text]
            if documents and (size + len(values) > CHUNK or len(documents) == BATCH):
                yield documents
                documents, size = {}, 0
            documents[self.query_ids[text]] = values
            size += len(values)
        if documents:
            yield documents

    def _compare(self, documents: Mapping[int, Sequence[GivenGrade]]) -> list[Row]:
        """Returns the ratings that are not the present ones of their raters. The revisions are read first: see `_outdated`."""
        self.revisions |= dict(Query.objects.filter(pk__in=documents).values_list("pk", "revision"))
        columns = ("query_id", "doc_id", "rater_id", "value")
        ratings = current_ratings(columns, query_id__in=list(documents), rater_id__in=list(self.raters.values()))
        present = {rating[:3]: rating[3] for rating in ratings}
        raters, rows = self.raters, list[Row]()
        for query_id, values in documents.items():
            count = len(rows)
            rows += [
                (query_id, doc_id, rater_id, value)
                for doc_id, name, value in values
                if present.get((query_id, doc_id, rater_id := raters[name])) != value
            ]
            self.changes[query_id] = len(rows) - count
            self.of_others[query_id] = sum(row[2] != self.record.by_id for row in rows[count:])
        return rows

    def _outdated(self) -> list[str]:
        """Returns the queries whose ratings have changed since they were compared."""
        outdated = []
        for texts in batched(self.query_ids, BATCH):
            ids = [self.query_ids[text] for text in texts]
            rows = Query.objects.filter(pk__in=ids).values_list("pk", "text", "revision")
            stored = {pk: (text, revision) for pk, text, revision in rows}
            for text, pk in zip(texts, ids, strict=True):
                stored_text, revision = stored.get(pk, ("", 0))
                if stored_text != text:
                    raise ImportFailed(f"The query “{text[:60]}” was renamed during the import. Start it again.")
                if revision != self.revisions[pk]:
                    outdated.append(text)
        return outdated

    def _set_applied(self) -> None:
        self._check_scale()
        now = timezone.now()
        note_progress(self.record, applied_at=now)
        scores.ratings_changed(sorted(pk for pk, count in self.changes.items() if count))

    def _check_scale(self) -> None:
        """The scale may have changed since the file was checked."""
        book = self.record.book
        before, remapped_at = book.scale, book.remapped_at
        book.refresh_settings()
        if book.remapped_at != remapped_at:
            raise ImportFailed(
                f"The ratings of the book {book} got grades of another scale during the import. Check the file, and start it again."
            )
        if book.scale == before:
            return
        scale = scores.scale_of(book)
        for value in self.record.ratings.order_by("value").values_list("value", flat=True).distinct():
            if not scale.contains(value):
                raise ImportFailed(
                    f"The scale of the book {book} was changed during the import; {value:g} is not on it."
                )


def note_progress(record: RatingImport, **changes: Any) -> None:
    """Notes that the import makes progress. Raises `ImportFailed` if it was discarded because it had made none."""
    alive = RatingImport.objects.filter(pk=record.pk, is_discarded=False)
    if not alive.update(progressed_at=timezone.now(), **changes):
        raise ImportFailed("The import had stopped for minutes, so what it had written was deleted. Start it again.")


@contextmanager
def short_transaction() -> Iterator[None]:
    """A transaction in the order of the raters, with a pause after it for everybody else; see `scores.PAUSE_SECONDS`."""
    with write_turn(), transaction.atomic():
        yield
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        time.sleep(scores.PAUSE_SECONDS)
