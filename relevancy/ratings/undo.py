"""Takes back the last ratings that a user gave on the page, by the log of changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import F, Q, QuerySet

from relevancy.models import Book, Case, Query, Rating, RatingChange, User

from .changes import Change
from .ratings import change_query

UNDOABLE_SOURCE, UNDO_SOURCE = "page", "undo"


@dataclass(frozen=True)
class UndoneRatings:
    """What `undo` did.

    query: whose documents had been rated.
    undone: the changes that were taken back, in the order in which they were made.
    kept: the ids of documents whose rating another user has changed since; it stays as it is.
    """

    query: Query
    undone: Sequence[RatingChange]
    kept: Sequence[str]


def last_change(*, by: User, case: Case | None = None, book: Book | None = None) -> RatingChange | None:
    """Returns the newest rating, or removal of one, that the user made on the page and has not taken back.

    In the queries of a case, or of a book.
    """
    changes = _undoable(by)
    if case is not None:
        changes = changes.filter(query__case_queries__case=case, query__case_queries__removed_at=None)
    if book is not None:
        changes = changes.filter(query__book=book)
    newest: RatingChange | None = changes.select_related("query__book", "by").order_by("-id").first()
    return newest


def undo(
    *,
    by: User,
    case: Case | None = None,
    book: Book | None = None,
    change: RatingChange | None = None,
) -> UndoneRatings | None:
    """Takes back the user's last change of ratings in a case or a book, or `change`, with everything that was changed together with it.

    Restores values, verdicts, notes and times as they were, and logs that. A rating that was changed by another user, or by
    an import, in the meantime is kept. Returns None if there is nothing to take back. Called again, takes back the change before.
    """
    newest = change or last_change(by=by, case=case, book=book)
    if newest is None:
        return None
    change = newest
    undone: list[RatingChange] = []
    kept: list[str] = []

    def choose_changes() -> Mapping[str, Change]:
        own = {rating.doc_id: rating for rating in Rating.objects.filter(query=change.query, rater=by)}
        # The changes of one request have one time.
        together = list(_undoable(change.by).filter(query=change.query, at=change.at).order_by("id"))
        overridden = _changed_by_others_since(together)
        changes = {}
        for undoable in together:
            present = own.get(undoable.doc_id)
            was = (present.verdict, present.value) if present else ("", None)
            if undoable.doc_id in overridden or was != (undoable.new_verdict, undoable.new_value):
                kept.append(undoable.doc_id)
                changes[undoable.doc_id] = Change.keeping(present, undoable)
            else:
                undone.append(undoable)
                changes[undoable.doc_id] = Change.restoring(undoable)
        return changes

    query = change.query
    change_query(query, choose_changes, by=by, source=UNDO_SOURCE)
    return UndoneRatings(query, undone, kept) if undone or kept else None


def _undoable(by: User) -> QuerySet[RatingChange]:
    """The user's changes that can be taken back. Those from before the book got another scale have grades of the former one."""
    own = RatingChange.objects.filter(by=by, rater=by, source=UNDOABLE_SOURCE, undone_by=None)
    return own.filter(Q(query__book__remapped_at=None) | Q(at__gt=F("query__book__remapped_at")))


def _changed_by_others_since(changes: Sequence[RatingChange]) -> set[str]:
    """Returns the ids of the documents whose rating was changed after one of the changes, by another user or by an import."""
    if not changes:
        return set()
    first = changes[0]
    later = RatingChange.objects.filter(
        query=first.query_id, rater=first.rater_id, doc_id__in=[change.doc_id for change in changes], id__gt=first.pk
    )
    own = later.filter(by=first.by_id, source__in=(UNDOABLE_SOURCE, UNDO_SOURCE))
    return set(later.exclude(pk__in=own.values("pk")).values_list("doc_id", flat=True))
