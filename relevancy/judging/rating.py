"""Ratings: given, changed, taken back. One transaction each, with the log; then the scores that depend on them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import batched
from threading import Lock
from typing import Any

from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from relevancy import evaluation
from relevancy.models import Book, Query, Rating, RatingChange, Run, Verdict

DOC_ID_LENGTH = 500
BATCH = 500
_QUEUE = Lock()
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class CannotRate(Exception):
    """Why a rating was refused, for the person who gave it."""


@dataclass(frozen=True)
class Change:
    """What is to be said of a document: a grade, another verdict with its note, or nothing any more (`verdict` empty)."""

    value: float | None = None
    verdict: str = Verdict.RATED
    note: str | None = None


TAKEN_BACK = Change(verdict="")


def rate(
    *,
    query: Query,
    doc_id: str,
    value: float,
    by: Any,
    note: str | None = None,
    run: Run | None = None,
    source: str = "page",
) -> int:
    """Give one document a grade. Returns how many ratings changed (0 or 1). With `run`, that run's scores are made anew at once."""
    return rate_many(query=query, values={doc_id: value}, by=by, note=note, run=run, source=source)


def rate_many(
    *,
    query: Query,
    values: Mapping[str, float],
    by: Any,
    note: str | None = None,
    run: Run | None = None,
    source: str = "page",
) -> int:
    """Give several documents of one query their grades. Raises `CannotRate` before anything is written."""
    changes = {
        check_document(doc_id): Change(_on_scale(value, query.book), note=note) for doc_id, value in values.items()
    }
    return _write(query.book, {query.pk: changes}, by, by, source, run)


def take_back(*, query: Query, doc_ids: Iterable[str], by: Any, run: Run | None = None, source: str = "page") -> int:
    """Take one's own ratings back; documents without one are left alone."""
    return _write(query.book, {query.pk: {doc_id.strip(): TAKEN_BACK for doc_id in doc_ids}}, by, by, source, run)


def rate_book(
    *, book: Book, values: Mapping[int, Mapping[str, float]], rater: Any, by: Any, source: str = "import"
) -> int:
    """Give grades to documents of many queries: `{query id: {document id: grade}}`. All or nothing."""
    changes = {
        query_id: {check_document(doc_id): Change(_on_scale(value, book)) for doc_id, value in documents.items()}
        for query_id, documents in values.items()
    }
    return _write(book, changes, rater, by, source, None)


def check_document(doc_id: str) -> str:
    """The id as it is kept, trimmed; raises `CannotRate` for one that no document can have."""
    doc_id = doc_id.strip()
    if not doc_id:
        raise CannotRate("The document id is empty.")
    if len(doc_id) > DOC_ID_LENGTH:
        raise CannotRate(f"The document id {doc_id[:40]}… has {len(doc_id)} characters; {DOC_ID_LENGTH} are possible.")
    if _UNSTORABLE.search(doc_id):
        raise CannotRate(f"The document id {doc_id[:40]!r} has a character that no text can keep. Take it out.")
    return doc_id


def _on_scale(value: float, book: Book) -> float:
    if not evaluation.scale_of(book).contains(value):
        raise CannotRate(f"{value:g} is not on the scale of book {book}: {book.lowest:g} to {book.top:g}.")
    return float(value)


def _write(
    book: Book, changes: Mapping[int, Mapping[str, Change]], rater: Any, by: Any, source: str, run: Run | None
) -> int:
    """Write what differs from what is there; every touched query's revision rises by one. Queries are locked in order of id."""
    now = timezone.now()
    with _turn(), transaction.atomic():
        for some in batched(sorted(changes), BATCH):
            evaluation.lock_queries(some)
        there = _present(changes, rater)
        keep: list[Rating] = []
        gone: list[int] = []
        log: list[RatingChange] = []
        for query_id, documents in changes.items():
            for doc_id, change in documents.items():
                old = there.get((query_id, doc_id))
                if not _differs(old, change):
                    continue
                log.append(_entry(query_id, doc_id, old, change, rater, by, source, now))
                if not change.verdict:
                    assert old is not None
                    gone.append(old.pk)
                else:
                    keep.append(_row(query_id, doc_id, old, change, rater, now))
        if not log:
            return 0
        for some in batched(gone, BATCH):
            Rating.objects.filter(pk__in=some).delete()
        Rating.objects.bulk_create(
            keep,
            batch_size=BATCH,
            update_conflicts=True,
            unique_fields=("query", "doc_id", "rater"),
            update_fields=("verdict", "value", "note", "changed_at"),
        )
        RatingChange.objects.bulk_create(log, batch_size=BATCH)
        touched = sorted({entry.query_id for entry in log})
        for some in batched(touched, BATCH):
            Query.objects.filter(pk__in=some).update(revision=F("revision") + 1)
    if run is not None:
        # After the transaction: a script may take its time, and nobody else could write to SQLite meanwhile.
        for query_id in touched:
            evaluation.rescore_query(run, query_id)
    return len(log)


@contextmanager
def _turn() -> Iterator[None]:
    """Those who rate at the same moment in this process go one after another, before they ask for the database's one writer.

    SQLite lets who waits try again after pauses that grow, so that who came last may be served first. Within a transaction
    the writer is ours already: to queue then would be to wait for those who wait for it.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        yield
    else:
        with _QUEUE:
            yield


def _present(changes: Mapping[int, Mapping[str, Change]], rater: Any) -> dict[tuple[int, str], Rating]:
    found: dict[tuple[int, str], Rating] = {}
    for some in batched(changes, BATCH):
        rows = Rating.objects.filter(query_id__in=some, rater=rater)
        if len(changes) == 1:
            rows = rows.filter(doc_id__in=list(changes[some[0]]))
        found.update({(row.query_id, row.doc_id): row for row in rows})
    return found


def _differs(old: Rating | None, change: Change) -> bool:
    if old is None:
        return bool(change.verdict)
    note_changed = change.note is not None and change.note != old.note
    return (old.verdict, old.value) != (change.verdict, change.value) or note_changed


def _row(query_id: int, doc_id: str, old: Rating | None, change: Change, rater: Any, now: Any) -> Rating:
    note = change.note if change.note is not None else (old.note if old else "")
    return Rating(
        query_id=query_id,
        doc_id=doc_id,
        rater=rater,
        verdict=change.verdict,
        value=change.value,
        note=note,
        created_at=old.created_at if old else now,
        changed_at=now,
    )


def _entry(
    query_id: int, doc_id: str, old: Rating | None, change: Change, rater: Any, by: Any, source: str, now: Any
) -> RatingChange:
    return RatingChange(
        query_id=query_id,
        doc_id=doc_id,
        rater=rater,
        by=by,
        source=source,
        old_verdict=old.verdict if old else "",
        old_value=old.value if old else None,
        new_verdict=change.verdict,
        new_value=change.value,
        at=now,
    )
