"""Imports ratings: few of them in one transaction, many in short ones while the book is closed for other ratings.

What an import in short transactions has written is in the log with its `RatingImport`. If it fails, or its process dies, it is undone
from there; see docs/decisions/0060.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from itertools import batched
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import DatabaseError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from relevancy import accounts, activity, queries, scores
from relevancy.models import (
    Activity,
    Book,
    Case,
    JudgingPair,
    Query,
    Rating,
    RatingChange,
    RatingImport,
    RatingSpread,
    User,
    Verdict,
)
from relevancy.models.errors import error_text
from relevancy.models.write_queue import write_pause, write_turn

from .new_ratings import NewRating, OldRating, RatingKey, insert_ratings, write_ratings
from .ratings import check_open

MAX_AT_ONCE = 50_000  # ratings in one transaction: about two seconds
CHUNK = 10_000  # ratings of a short transaction: about 300 ms
QUERIES_CHUNK = 5_000  # queries of a short transaction, and of one note of progress
DELETED_AT_ONCE = 2_000
BATCH = 500  # ids in one SQL statement
DEAD_AFTER = timedelta(minutes=2)  # without progress
Status = RatingImport.Status
_REPLACED = ("old_verdict", "old_value", "old_note", "old_rated_at", "old_is_adjudication")  # as `NewRating` has them

type GivenGrade = tuple[str, str, float]
"""Document id, name of the rater, grade. The name is empty for the rater that `import_ratings` is given."""

type Values = Mapping[str, Sequence[GivenGrade]]
"""The grades of each query, one of each rater and document; texts, ids and grades are checked. May read them from a file."""

type ReportProgress = Callable[[RatingImport], None]
"""Called after each transaction, with `done` and `total`."""


class ImportFailed(ValidationError):
    """An import that could not be finished. Nothing has changed. The message is written for the user."""


def import_ratings(
    *,
    case: Case,
    values: Values,
    total: int,
    rater: User,
    raters: Collection[str] = (),
    by: User,
    source: str = "import",
    report: ReportProgress = lambda record: None,
) -> tuple[int, int]:
    """Imports ratings into the book of a case, and adds the queries to the case.

    total: their number. More than `MAX_AT_ONCE`, and those of more than `queries.MAX_QUERIES` queries, are stored in short transactions
        while the book is closed; see `run_import`.
    rater: of the ratings without a name. raters: the names of the others; who is not known becomes a rater that cannot sign in. No user
        may have rated a document under two names.

    Returns how many ratings are new or changed, and how many queries were added. Computes no scores. Raises `ImportFailed`,
    `RatingRefused`, and `ValidationError` for a name; then nothing has changed.
    """
    if is_large(values, total):
        record = begin_import(case=case, by=by, source=source, total=total, queries_of_file=len(values))
        with undone_after_error(record):
            return run_import(record, values, rater=rater, raters=raters, report=report)
    with write_turn(), transaction.atomic():
        query_ids, added = queries.find(case=case, texts=values), 0
        if len(query_ids) < len(values):
            query_ids = queries.prepare(book=case.book, texts=list(values))
            added = _add_queries(case, query_ids, by)
        for batch in batched(sorted(query_ids.values()), BATCH):
            scores.lock_queries(batch)
        _check_book(case.book)
        users = accounts.ensure_raters(raters, by=by) if raters else {}
        rater_ids = {"": rater.pk, **{name: user.pk for name, user in users.items()}}
        rows = list(_rows(values, query_ids, rater_ids))
        changed = _store_changes(rows, by, source, timezone.now(), rater_ids)
        _record(case.book, by, len(changed), len([new for new in changed if new.rater_id != by.pk]))
    return len(changed), added


def is_large(values: Values, total: int) -> bool:
    """Returns whether a file is imported in short transactions. total: how many ratings it has."""
    return total > MAX_AT_ONCE or len(values) > queries.MAX_QUERIES


def begin_import(
    *,
    case: Case,
    by: User,
    source: str = "import",
    total: int,
    queries_of_file: int = 0,
    status: Status = Status.RUNNING,
    format: str = "",
) -> RatingImport:
    """Closes the book of a case until `run_import` has stored its ratings, or `undo_import` what there is of them.

    total: how many ratings the file has. queries_of_file: how many queries. Raises `ImportFailed` and `RatingRefused`.
    """
    in_parts = queries_of_file if queries_of_file > queries.MAX_QUERIES else 0
    with short_transaction():
        Book.objects.select_for_update().filter(pk=case.book_id).values_list("pk").first()
        if not Case.objects.select_for_update(no_key=True).filter(pk=case.pk):
            raise _case_deleted()
        _check_book(case.book, advice="Import the file")
        return RatingImport.objects.create(
            book=case.book,
            case=case,
            by=by,
            source=source,
            total=total,
            queries=in_parts,
            status=status,
            format=format,
        )


def run_import(
    record: RatingImport,
    values: Values,
    *,
    rater: User,
    raters: Collection[str] = (),
    report: ReportProgress = lambda record: None,
) -> tuple[int, int]:
    """Does what `import_ratings` does, in short transactions. Returns the same.

    Call it within `undone_after_error`. Raises `ImportFailed`, and `ValidationError` for a name. More than `queries.MAX_QUERIES`
    queries are added to the case in parts at the end: those that were added stay if it fails after that.
    """
    query_ids: dict[str, int] = {}
    for texts in batched(values, QUERIES_CHUNK):
        query_ids |= queries.prepare(book=record.book, texts=texts)
        if record.queries:
            record.done += len(texts)
            note_progress(record, done=record.done)
            report(record)
    rater_ids = {"": rater.pk, **ensure_raters(record, raters)}
    now, of_others = timezone.now(), 0
    for rows in batched(_rows(values, query_ids, rater_ids), CHUNK):  # reads the file outside of transactions
        with short_transaction():
            record.done += len(rows)
            note_progress(record, done=record.done)
            changed = _store_changes(rows, record.by, record.source, now, rater_ids, record)
        record.changed += len(changed)
        of_others += sum(row.rater_id != record.by_id for row in changed)
        report(record)
    new = _add_in_parts(record, query_ids, report) if record.queries else []
    with short_transaction():
        note_progress(record, status=Status.COMPLETE, changed=record.changed)
        if record.case_id is None or record.case is None:
            raise _case_deleted()
        if record.queries:
            queries.record_added(case=record.case, query_ids=new, by=record.by)
            added = len(new)
        else:
            added = _add_queries(record.case, query_ids, record.by)
            _check_texts(query_ids)
        if record.total:
            _record(record.book, record.by, record.changed, of_others)
    record.status = Status.COMPLETE
    import_file(record).unlink(missing_ok=True)
    return record.changed, added


@contextmanager
def undone_after_error(record: RatingImport) -> Iterator[None]:
    """Undoes the import if the block fails; if the database fails as well, `sweep_imports` does it later."""
    try:
        yield
    except BaseException as error:
        reason = "The import failed. The server log has the details."
        with suppress(DatabaseError):
            undo_import(record, error_text(error) if isinstance(error, ValidationError) else reason)
        raise


def claim_import(import_id: int) -> RatingImport | None:
    """Returns an import that waits for a worker, which is the caller's from now on. None if another one has it."""
    waiting = RatingImport.objects.filter(pk=import_id, status=Status.WAITING)
    if not waiting.update(status=Status.RUNNING, progressed_at=timezone.now()):
        return None
    return RatingImport.objects.select_related("book", "case__book", "by").get(pk=import_id)


def waiting_imports() -> list[int]:
    """Returns the ids of the imports that have waited for so long that their task may have been lost."""
    waiting = RatingImport.objects.filter(_without_progress(), status=Status.WAITING)
    return list(waiting.values_list("pk", flat=True))


def import_file(record: RatingImport) -> Path:
    """Returns where the file of an import waits for a worker."""
    return Path(settings.DATA_DIR) / "imports" / str(record.pk)


def _without_progress() -> Q:
    """Imports without progress for `DEAD_AFTER`. A time that is further ahead than that is of a clock that was wrong."""
    now = timezone.now()
    return ~Q(progressed_at__range=(now - DEAD_AFTER, now + DEAD_AFTER))


def sweep_imports() -> list[int]:
    """Undoes imports whose process has died. Returns the ids of the books whose ratings were changed back."""
    dead = RatingImport.objects.unfinished().exclude(status=Status.WAITING)
    undone = []
    for record in dead.filter(_without_progress()).select_related("book"):
        undo_import(record, "The process that imported the ratings has ended. Start the import again.")
        if not record.is_first:
            undone.append(record.book_id)
    return undone


def undo_import(record: RatingImport, error: str = "") -> None:
    """Makes the book what it was before an import, in short transactions, and opens it. A book that is hidden is deleted.

    May be called again after it was interrupted, and by several processes at once.
    """
    unfinished = RatingImport.objects.unfinished().filter(pk=record.pk)
    if not unfinished.update(status=Status.UNDOING, progressed_at=timezone.now()):
        return
    is_unseen = record.is_first and not record.book.cases.exists()  # until the book is deleted, the row hides it
    if is_unseen:
        _delete_ratings(record.book)
    while _undo_some(record):
        pass
    new_raters = RatingImport.objects.values_list("new_raters", flat=True).get(pk=record.pk)
    for ids in batched(new_raters, BATCH):
        with short_transaction():
            accounts.delete_unused_raters(ids)
    if is_unseen:
        with short_transaction():
            record.book.delete()
    elif record.is_first:
        record.delete()
    else:
        queries.delete_prepared(book=record.book)
        import_file(record).unlink(missing_ok=True)
        unfinished.update(status=Status.FAILED, error=error)


def _undo_some(record: RatingImport) -> bool:
    """Changes some ratings back, and forgets their changes. Returns whether there were any."""
    with short_transaction():
        RatingImport.objects.filter(pk=record.pk).update(progressed_at=timezone.now())  # another process waits here
        changes = RatingChange.objects.filter(rating_import=record.pk).order_by("-pk")
        rows = list(changes.values_list("pk", "query_id", "doc_id", "rater_id", *_REPLACED)[:CHUNK])
        if not rows:
            return False
        query_ids = sorted({query_id for _, query_id, *_ in rows})
        for batch in batched(query_ids, BATCH):
            scores.lock_queries(batch)
        some = changes.filter(pk__range=(rows[-1][0], rows[0][0]))
        same = some.filter(
            old_verdict="", query=OuterRef("query"), doc_id=OuterRef("doc_id"), rater=OuterRef("rater")
        ).order_by()
        for batch in batched(query_ids, BATCH):
            Rating.objects.filter(Exists(same), query_id__in=batch).delete()
        replaced = [NewRating(*row) for _, *row in rows]
        write_ratings([rating for rating in replaced if rating.verdict], timezone.now())
        some.delete()
        _ratings_changed(query_ids)
    return True


def _ratings_changed(query_ids: Sequence[int], *, has_only_new_ratings: bool = False) -> None:
    for batch in batched(query_ids, BATCH):
        JudgingPair.objects.update_levels(batch, has_only_new_ratings=has_only_new_ratings)
        RatingSpread.objects.refresh(batch, has_only_new_ratings=has_only_new_ratings)
    scores.ratings_changed(query_ids)


def _delete_ratings(book: Book) -> None:
    """Deletes the queries of a book that is hidden, with their ratings."""
    for rows in (RatingChange.objects.filter(query__book=book), Rating.objects.filter(query__book=book)):
        _delete_in_parts(rows, DELETED_AT_ONCE)
    _delete_in_parts(book.queries.all(), BATCH)


def _delete_in_parts(rows: QuerySet[Any], size: int) -> None:
    while ids := list(rows.order_by("pk").values_list("pk", flat=True)[:size]):
        with short_transaction():
            rows.filter(pk__range=(ids[0], ids[-1])).delete()


def ensure_raters(record: RatingImport, names: Collection[str]) -> dict[str, int]:
    """Returns the ids of the raters of an import by name. Those that are created are noted with it; `undo_import` deletes them.

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


def _rows(
    values: Values, query_ids: Mapping[str, int], rater_ids: Mapping[str, int]
) -> Iterator[tuple[int, str, int, float]]:
    for text, query_id in query_ids.items():
        for doc_id, name, value in values[text]:
            yield query_id, doc_id, rater_ids[name], value


def _store_changes(
    rows: Sequence[tuple[int, str, int, float]],
    by: User,
    source: str,
    now: datetime,
    rater_ids: Mapping[str, int],
    record: RatingImport | None = None,
) -> list[NewRating]:
    """Stores those of the ratings that are not the present ones of their raters, and returns them. Locks their queries.

    Of two raters, the one that the file names last has the newer rating.
    """
    times = {pk: now + timedelta(microseconds=number) for number, pk in enumerate(rater_ids.values())}
    query_ids = sorted({query_id for query_id, *_ in rows})
    present: dict[RatingKey, OldRating] = {}
    for batch in batched(query_ids, BATCH):
        if record is not None:
            scores.lock_queries(batch)
        ratings = Rating.objects.filter(query_id__in=batch, rater_id__in=times).order_by()
        columns = ("verdict", "value", "note", "updated_at", "is_adjudication")
        for query_id, doc_id, rater_id, *old in ratings.values_list("query_id", "doc_id", "rater_id", *columns):
            present[query_id, doc_id, rater_id] = OldRating(*old)
    changed, replaced = [], dict[RatingKey, OldRating]()
    for query_id, doc_id, rater_id, value in rows:
        old = present.get((query_id, doc_id, rater_id))
        if old is None or old.value != value:
            note = "" if old is None else old.note
            changed.append(NewRating(query_id, doc_id, rater_id, Verdict.RATED, value, note, times[rater_id]))
            if old is not None:
                replaced[query_id, doc_id, rater_id] = old
    if changed:
        import_id = None if record is None else record.pk
        insert_ratings(changed, by_id=by.pk, source=source, now=now, replaced=replaced, rating_import_id=import_id)
        _ratings_changed(sorted({new.query_id for new in changed}), has_only_new_ratings=True)
    return changed


def _add_queries(case: Case, query_ids: Mapping[str, int], by: User) -> int:
    try:
        return queries.add_prepared(case=case, query_ids=list(query_ids.values()), by=by)
    except Case.DoesNotExist:
        raise _case_deleted() from None


def _add_in_parts(record: RatingImport, query_ids: Mapping[str, int], report: ReportProgress) -> list[int]:
    """Adds prepared queries to the case of an import. Returns the ids of those that it did not have."""
    _check_texts(query_ids)
    added: list[int] = []
    for ids in batched(query_ids.values(), QUERIES_CHUNK):
        with short_transaction():
            record.done += len(ids)
            note_progress(record, done=record.done)
            case = record.case and Case.objects.filter(pk=record.case.pk).select_related("book").first()
            if case is None:
                raise _case_deleted()
            added += queries.append(case=case, query_ids=ids)
        report(record)
    return added


def _case_deleted() -> ImportFailed:
    return ImportFailed("The case was deleted during the import; nothing was imported.")


def _check_book(book: Book, advice: str = "Rate") -> None:
    """Reads the book again. Raises `RatingRefused` if another import has closed it, and `ImportFailed` if its scale is not that on
    which the file was checked. advice: see `check_open`."""
    is_closed = Exists(RatingImport.objects.unfinished().filter(book=OuterRef("pk")))
    present: Any = Book.objects.annotate(is_closed=is_closed).get(pk=book.pk)
    if present.is_closed:
        check_open(book=book.pk, advice=advice)
    if present.scale_key != book.scale_key:
        raise ImportFailed(
            f"The scale of the book {book} was changed during the import; nothing was imported. Check the file, and start it again."
        )


def _check_texts(query_ids: Mapping[str, int]) -> None:
    for batch in batched(query_ids.items(), BATCH):
        stored = dict(Query.objects.filter(pk__among=[pk for _, pk in batch]).values_list("pk", "text"))
        for text, pk in batch:
            if stored.get(pk) != text:
                raise ImportFailed(f"The query “{text[:60]}” was renamed during the import. Start it again.")


def _record(book: Book, by: User, changed: int, of_others: int) -> None:
    activity.record_for_book(Activity.Verb.RATINGS_IMPORTED, book=book, by=by, count=changed, of_others=of_others)


def note_progress(record: RatingImport, **changes: Any) -> None:
    """Notes that the import makes progress. Raises `ImportFailed` if it is being undone because it had made none."""
    alive = RatingImport.objects.filter(pk=record.pk, status=Status.RUNNING)
    if not alive.update(progressed_at=timezone.now(), **changes):
        raise ImportFailed("The import had stopped for minutes, so what it had written was undone. Start it again.")


@contextmanager
def short_transaction() -> Iterator[None]:
    """A transaction in the order of the raters, with a pause after it for everybody else; see `write_pause`."""
    with write_turn(), transaction.atomic():
        yield
    write_pause()
