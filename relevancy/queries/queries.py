"""The queries of a case: added, edited, removed and restored."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import batched
from typing import Any, TypedDict, Unpack

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from relevancy import activity, hooks, scores
from relevancy.models import Activity, Book, Case, CaseQuery, Query, Ranking, User
from relevancy.models.inserts import insert_rows
from relevancy.models.saving import clean_and_save

from . import tags as query_tags
from .details import OF_CASE_QUERY, clean_detail
from .ordering import STEP
from .pasting import PastedQueries, parse_lines
from .text import check_text, text_key

BATCH_SIZE = 500
LOOKED_UP = 10_000  # ids in one statement
# What `edit` changes, as the activity log calls it.
_LABELS = {
    "text": "text",
    "information_need": "information need",
    "reference_answer": "reference answer",
    "notes": "notes",
    "tags": "tags",
    "options": "options",
    "weight": "weight",
}
_OF_BOOK = (
    *("book_id", "text", "text_key", "retired_at", "created_at"),
    *("information_need", "reference_answer", "notes", "tags", "revision"),
)


@dataclass(frozen=True)
class AddedQueries:
    """What `add` did.

    added: case queries that are new or restored, in order.
    repeated: texts that the case, or an earlier line, had already.
    rejected: line number, from 1, and reason for each line that cannot be a query.
    """

    added: list[CaseQuery] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    rejected: list[tuple[int, str]] = field(default_factory=list)


def add(*, case: Case, texts: Iterable[str] | PastedQueries, by: User | None = None) -> AddedQueries:
    """Adds queries to the end of the case, each text once. Lines that cannot be a query are returned, the others are added.

    A query that was removed before is restored with its options and ratings.
    Raises `ValidationError` for more queries than can be added at once.
    """
    pasted = texts if isinstance(texts, PastedQueries) else parse_lines(texts)
    with transaction.atomic():
        Case.objects.select_for_update(no_key=True).get(pk=case.pk)  # before its book gets queries, as everywhere
        query_ids = _find_or_create(case.book, pasted.texts)
        new = append(case=case, query_ids=list(query_ids.values()))
        record_added(case=case, query_ids=new, by=by)
    ids = set(new)
    stored = case.case_queries.select_related("query")
    added = [row for batch in batched(new, BATCH_SIZE) for row in stored.filter(query__in=batch).order_by("position")]
    repeated = [*pasted.repeated, *(text for text, pk in query_ids.items() if pk not in ids)]
    return AddedQueries(added=added, repeated=repeated, rejected=pasted.rejected)


def ensure(*, book: Book, texts: Sequence[str]) -> dict[str, int]:
    """Returns the ids of the book's queries with these normalized texts. Creates those that are missing, unretires the rest."""
    ids = _find_or_create(book, texts)
    _unretire(ids.values())
    return ids


def find(*, case: Case, texts: Iterable[str]) -> dict[str, int]:
    """Returns `{normalized text: query id}` of the queries that the case has. Two SQL statements for 500 texts."""
    ids: dict[str, int] = {}
    for batch in batched(texts, BATCH_SIZE):
        keys = {text_key(text): text for text in batch}
        found = Query.objects.ids_by_key(case.book_id, list(keys))
        in_case = case.case_queries.present().filter(query_id__among=found.values())
        present = set(in_case.values_list("query_id", flat=True))
        ids |= {keys[key]: pk for key, pk in found.items() if pk in present}
    return ids


def prepare(*, book: Book, texts: Sequence[str]) -> dict[str, int]:
    """Returns `{normalized text: query id}`. Creates those that the book does not have, retired, so that they are hidden until `add`.

    Short transactions, and none around all of them. `delete_prepared` removes what was not added after all.
    """
    return _find_or_create(book, texts, retired_at=timezone.now())


def _find_or_create(book: Book, texts: Sequence[str], retired_at: datetime | None = None) -> dict[str, int]:
    ids: dict[str, int] = {}
    for batch in batched(texts, BATCH_SIZE):
        keys = {text_key(text): text for text in batch}
        present = Query.objects.ids_by_key(book.pk, list(keys))
        if missing := [key for key in keys if key not in present]:
            now = timezone.now()
            rows: list[Sequence[Any]] = [
                (book.pk, keys[key], key, retired_at, now, "", "", "", [], 0) for key in missing
            ]
            once, added = "(book_id, text_key) DO NOTHING", ("text_key", "id")
            present |= insert_rows(Query, _OF_BOOK, rows, on_conflict=once, returning=added)
            # On PostgreSQL only those that somebody else has created meanwhile.
            if unknown := [key for key in missing if key not in present]:
                present |= Query.objects.ids_by_key(book.pk, unknown)
        ids |= {text: present[key] for key, text in keys.items()}
    return ids


def add_prepared(*, case: Case, query_ids: Sequence[int], by: User | None = None) -> int:
    """Adds prepared queries, or others of the book, to the end of the case as `add` does, and returns how many.

    Reads and writes little, because the transaction that calls it holds up everybody on SQLite.
    """
    wanted, present = set(query_ids), case.case_queries.present()
    if len(wanted) == sum(present.filter(query__in=batch).count() for batch in batched(wanted, BATCH_SIZE)):
        return 0
    with transaction.atomic():
        new = append(case=case, query_ids=query_ids)
        record_added(case=case, query_ids=new, by=by)
    return len(new)


def record_added(*, case: Case, query_ids: Sequence[int], by: User | None) -> None:
    """Records in the activity of the case that queries were added to it; nothing without queries."""
    if query_ids:
        first = Query.objects.get(pk=query_ids[0])
        activity.record(
            Activity.Verb.QUERIES_ADDED, case=case, by=by, subject=first, object_id=first.pk, count=len(query_ids)
        )


def append(*, case: Case, query_ids: Sequence[int]) -> list[int]:
    """Locks the case and adds queries of its book to its end. Returns the ids of those that it did not have, or that had been removed.

    The log is left to the caller.
    """
    Case.objects.select_for_update(no_key=True).get(pk=case.pk)
    present: dict[int, bool] = {}
    for batch in batched(query_ids, LOOKED_UP):
        rows = case.case_queries.filter(query_id__among=batch).values_list("query_id", "removed_at")
        present |= {pk: removed_at is None for pk, removed_at in rows}
    if all(present.get(pk) for pk in query_ids):
        return []
    last = _last_position(case)
    positions = {pk: last + number * STEP for number, pk in enumerate(query_ids, 1) if not present.get(pk)}
    _unretire(positions)
    new: list[Sequence[Any]] = [(case.pk, pk, at, {}, 1.0) for pk, at in positions.items() if pk not in present]
    insert_rows(CaseQuery, ("case_id", "query_id", "position", "options", "weight"), new)
    if len(new) < len(positions):
        removed = case.case_queries.filter(removed_at__isnull=False)
        restored = [row for row in removed if row.query_id in positions]
        for case_query in restored:
            case_query.removed_at, case_query.position = None, positions[case_query.query_id]
        CaseQuery.objects.bulk_update(restored, ["removed_at", "position"], batch_size=BATCH_SIZE)
        scores.case_changed(case.pk)
    scores.queries_added(case.pk, len(positions))
    hooks.queries_changed(case.book_id)
    return list(positions)


def _last_position(case: Case) -> float:
    """Returns the position of the last query of a case, present or removed; 0 if it has none. Two SQL statements.

    Each reads the end of an index, on PostgreSQL once its statistics know the case. The greatest position of all would take 0.1 s to
    find in a million; a file is added in 200 parts.
    """
    kinds = case.case_queries.present(), case.case_queries.filter(removed_at__isnull=False)
    last = [rows.order_by("-position", "-pk").values_list("position", flat=True).first() for rows in kinds]
    return max((position for position in last if position is not None), default=0.0)


def _unretire(query_ids: Iterable[int]) -> None:
    for batch in batched(query_ids, BATCH_SIZE):
        Query.objects.filter(pk__among=batch, retired_at__isnull=False).update(retired_at=None)


def delete_prepared(*, book: Book) -> None:
    """Deletes the queries of a book that were prepared and never added: retired, in no case and without ratings."""
    unused = book.queries.filter(
        retired_at__isnull=False,
        case_queries=None,
        ratings=None,
        rating_changes=None,
        rankings=None,
        scores=None,
    ).order_by("pk")
    while pks := list(unused.values_list("pk", flat=True)[:BATCH_SIZE]):
        Query.objects.filter(pk__in=pks).delete()


class QueryTexts(TypedDict, total=False):
    """What `describe` changes, all Markdown; what is left out stays."""

    information_need: str
    reference_answer: str
    notes: str


class QueryChanges(QueryTexts, total=False):
    """What `edit` changes; what is left out stays. options: as an object, or as JSON."""

    text: str
    tags: str | Sequence[str]
    options: Mapping[str, Any] | str
    weight: float


def edit(*, case_query: CaseQuery, by: User | None = None, **changes: Unpack[QueryChanges]) -> bool:
    """Changes a query, and returns whether anything is different now. All but options and weight belong to the book and change in every
    case on it.

    Raises `ValidationError`; then nothing is changed.
    """
    query, text = case_query.query, check_text(changes.get("text", case_query.query.text))
    if query.book.queries.filter(text_key=text_key(text)).exclude(pk=query.pk).exists():
        raise _already_in_book(text)
    spellings = query_tags.of_book(query.book) if "tags" in changes else ()
    new: dict[str, Any] = {**changes, "text": text, "text_key": text_key(text)}
    for name in new.keys() & {"tags", *OF_CASE_QUERY}:
        new[name] = clean_detail(name=name, value=new[name], text=text, spellings=spellings)
    former = _values(case_query)
    for name in new.keys() & set(OF_CASE_QUERY):
        setattr(case_query, name, new.pop(name))
    try:
        with transaction.atomic():
            if text != query.text:
                scores.lock_queries([query.pk])
                searched = Query.objects.values_list("text", flat=True).get(pk=query.pk)
                Ranking.objects.filter(query=query, former_text="").update(former_text=searched)
            clean_and_save(query, **new)
            changed = [label for label, value in _values(case_query).items() if value != former[label]]
            if changed:
                case_query.save(update_fields=OF_CASE_QUERY)
                scores.case_changed(case_query.case_id)
                _record(Activity.Verb.QUERY_CHANGED, case_query, by, changed=", ".join(changed))
            if "tags" in changed:
                scores.figures_changed(query.book)
            if {"text", "options"} & set(changed):
                hooks.queries_changed(query.book_id)
    except IntegrityError:  # another transaction added the text meanwhile
        raise _already_in_book(text) from None
    return bool(changed)


def _values(case_query: CaseQuery) -> dict[str, Any]:
    """Returns the values of everything that `edit` changes, by its label."""
    rows: dict[str, CaseQuery | Query] = dict.fromkeys(OF_CASE_QUERY, case_query)
    return {label: getattr(rows.get(name, case_query.query), name) for name, label in _LABELS.items()}


def _already_in_book(text: str) -> ValidationError:
    return ValidationError({"text": f"The book already has a query “{text[:60]}”."})


def describe(*, query: Query, by: User | None = None, **changes: Unpack[QueryTexts]) -> None:
    """Changes what a query is meant to find, what a good answer says and the notes about it. Raises `ValidationError`."""
    former = {name: getattr(query, name) for name in changes}
    with transaction.atomic():
        clean_and_save(query, **changes)
        if former != {name: getattr(query, name) for name in changes}:
            activity.record_for_book(
                Activity.Verb.QUERY_CHANGED,
                book=query.book,
                by=by,
                subject=query,
                changed="information need, reference answer or notes",
            )


def remove(*, case_query: CaseQuery, by: User | None = None) -> None:
    """Removes a query from the case. Ratings, options and position are kept; `restore` brings it back."""
    _set_removed_at(case_query, timezone.now(), by)


def restore(*, case_query: CaseQuery, by: User | None = None) -> None:
    """Brings a removed query back."""
    _set_removed_at(case_query, None, by)


def _set_removed_at(case_query: CaseQuery, removed_at: datetime | None, by: User | None) -> None:
    case_query.removed_at = removed_at
    with transaction.atomic():
        case_query.save(update_fields=["removed_at"])
        scores.case_changed(case_query.case_id)
        if removed_at is None:
            hooks.queries_changed(case_query.query.book_id)
        _record(Activity.Verb.QUERY_RESTORED if removed_at is None else Activity.Verb.QUERY_REMOVED, case_query, by)


def _record(verb: Activity.Verb, case_query: CaseQuery, by: User | None, **details: Any) -> None:
    activity.record(
        verb, case=case_query.case_id, by=by, subject=case_query.query, object_id=case_query.query_id, **details
    )
