"""Documents on which raters disagree, and the decisions of adjudicators about them.

See docs/decisions/0110.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Max, Min, Q, QuerySet

from relevancy import scores
from relevancy.models import Book, JudgingPair, Query, Rating, RatingChange, User, Verdict
from relevancy.models.write_queue import write_turn
from relevancy.ratings.changes import Change, RatingEditor
from relevancy.ratings.ratings import InvalidRating, check_open, check_scale, clean_doc_id

from .judging_documents import read_documents

ADJUDICATION_SOURCE = "adjudication"
OPEN, DECIDED = "open", "decided"


@dataclass(frozen=True)
class Conflict:
    """A document that raters of a book rated differently.

    difference: between the highest and the lowest rating. grade: what scorers see.
    ratings: of all raters, the adjudication left out. adjudication: the rating that counts instead of them; None if there is none.
    """

    query: Query
    doc_id: str
    difference: float
    grade: float | None
    ratings: Sequence[scores.RatingRecord]
    adjudication: scores.RatingRecord | None


def find_conflicts(*, book: Book, difference: float, state: str = OPEN, query: Query | None = None) -> QuerySet[Any]:
    """Returns the documents with ratings that differ by `difference` or more: the largest difference first, then most ratings.

    Rows of `query_id`, `doc_id`, `spread` (the difference), `count` (ratings) and `decisions` (0 or 1); `read_conflicts` reads them.
    The rating of an adjudicator is not one of those that differ. `state`: `OPEN` without an adjudication, `DECIDED` with one, empty
    for all. One SQL statement over the ratings of the book.
    """
    ratings = Rating.objects.filter(query__book=book, query__retired_at=None, verdict=Verdict.RATED)
    if query is not None:
        ratings = ratings.filter(query=query)
    independent = Q(is_adjudication=False)
    rows = (
        ratings.order_by()
        .values("query_id", "doc_id")
        .annotate(
            spread=Max("value", filter=independent) - Min("value", filter=independent),
            count=Count("pk", filter=independent),
            decisions=Count("pk", filter=~independent),
        )
        .filter(count__gte=2, spread__gte=difference)
    )
    if state:
        rows = rows.filter(decisions=1 if state == DECIDED else 0)
    return rows.order_by(F("spread").desc(), F("count").desc(), "query_id", "doc_id")


def read_conflicts(book: Book, rows: Iterable[Mapping[str, Any]]) -> list[Conflict]:
    """Returns the conflicts of rows of `find_conflicts`. One SQL statement, and one per query."""
    rows = list(rows)
    queries = Query.objects.in_bulk({row["query_id"] for row in rows})
    ratings = {query_id: scores.QueryRatings.read(query_id) for query_id in queries}
    grades = {query_id: read.grades(book) for query_id, read in ratings.items()}
    return [
        _conflict(queries[row["query_id"]], row["doc_id"], ratings[row["query_id"]], grades[row["query_id"]])
        for row in rows
    ]


def read_conflict(query: Query, doc_id: str) -> Conflict:
    """Returns one document with its ratings, whether they differ or not. One SQL statement."""
    ratings = scores.QueryRatings.read(query.pk)
    return _conflict(query, doc_id, ratings, ratings.grades(query.book))


def _conflict(query: Query, doc_id: str, ratings: scores.QueryRatings, grades: Mapping[str, float]) -> Conflict:
    records = ratings.by_document.get(doc_id, ())
    independent = [record for record in records if not record.is_adjudication]
    values = [record.value for record in independent if record.value is not None]
    return Conflict(
        query=query,
        doc_id=doc_id,
        difference=max(values) - min(values) if values else 0.0,
        grade=grades.get(doc_id),
        ratings=independent,
        adjudication=next((record for record in records if record.is_adjudication), None),
    )


def conflict_key(conflict: Conflict) -> str:
    """Returns a short text without special characters that is the same for the same document of a query, and another for others."""
    digest = hashlib.blake2b(conflict.doc_id.encode(), digest_size=6).hexdigest()
    return f"conflict-{conflict.query.pk}-{digest}"


def read_titles(conflicts: Iterable[Conflict], *, by: User) -> dict[tuple[int, str], str]:
    """Returns `{(query id, document id): title}` of the documents that the judging queue of the book has, as a run displays them.

    Three SQL statements, and one per query.
    """
    keys = {(conflict.query.pk, conflict.doc_id) for conflict in conflicts}
    pairs = JudgingPair.objects.filter(query__in={key[0] for key in keys}, doc_id__in={key[1] for key in keys})
    wanted = [pair for pair in pairs if (pair.query_id, pair.doc_id) in keys]
    return {
        (document.pair.query_id, document.pair.doc_id): document.title for document in read_documents(wanted, by=by)
    }


def count_adjudications(book: Book) -> int:
    """Returns the number of documents of a book with an adjudication, each counted once per query. One SQL statement."""
    return Rating.objects.filter(query__book=book, query__retired_at=None, is_adjudication=True).count()


def adjudicate(
    *, query: Query, doc_id: str, value: float, by: User, note: str | None = None, expected_scale: str = ""
) -> bool:
    """Decides which grade a document has for a query: the rating of `by` counts instead of all others, as long as it is not taken back.

    Replaces a rating that `by` gave before, and the decision of another adjudicator. Returns whether anything changed.
    expected_scale: see `rate_many`. Raises `InvalidRating` for a grade that is not on the scale, and `ScaleChanged`.
    """
    doc_id = clean_doc_id(doc_id)
    with write_turn(), transaction.atomic():
        scores.lock_queries([query.pk])
        check_open(book=query.book_id)
        query.book.refresh_settings()
        check_scale(query.book, expected_scale)
        if not scores.scale_of(query.book).contains(value):
            raise InvalidRating(
                f"{value:g} is not on the scale of the book {query.book}. "
                f"Choose a grade from {query.book.lowest:g} to {query.book.top:g}."
            )
        records = scores.QueryRatings.read(query.pk).by_document.get(doc_id, ())
        present = next((record for record in records if record.is_adjudication), None)
        has_changed = False
        if present is not None and present.rater_id != by.pk:
            has_changed = _withdraw(query, doc_id, present, by)
        own = next((record for record in records if record.rater_id == by.pk), None)
        editor = RatingEditor(by, by, ADJUDICATION_SOURCE)
        editor.change(query.pk, doc_id, own, Change(float(value), note=note, is_adjudication=True))
        editor.save()
        has_changed |= bool(editor.log)
        if has_changed:
            scores.ratings_changed([query.pk])
    return has_changed


def withdraw_adjudication(*, query: Query, doc_id: str, by: User) -> bool:
    """Takes back the decision of any user about a document. The adjudicator's rating becomes what it was before, if there was one.

    Returns whether there was a decision.
    """
    with write_turn(), transaction.atomic():
        scores.lock_queries([query.pk])
        check_open(book=query.book_id)
        query.book.refresh_settings()
        records = scores.QueryRatings.read(query.pk).by_document.get(doc_id, ())
        present = next((record for record in records if record.is_adjudication), None)
        if present is None:
            return False
        _withdraw(query, doc_id, present, by)
        scores.ratings_changed([query.pk])
    return True


def _withdraw(query: Query, doc_id: str, present: scores.RatingRecord, by: User) -> bool:
    """Makes an adjudication what it was before. Call it in the transaction that has locked the query."""
    changes = RatingChange.objects.filter(query=query, doc_id=doc_id, rater=present.rater_id)
    decision = changes.filter(new_is_adjudication=True, old_is_adjudication=False).order_by("-pk").first()
    if decision is None or not decision.old_verdict:
        change = Change(verdict="")
    elif Book.objects.filter(pk=query.book_id, remapped_at__gt=decision.at).exists():
        # The former grade is one of another scale.
        change = Change.copying(present, is_adjudication=False)
    else:
        change = Change(
            decision.old_value,
            decision.old_verdict,
            decision.old_note,
            decision.old_rated_at,
            is_adjudication=False,
        )
    editor = RatingEditor(User.objects.get(pk=present.rater_id), by, ADJUDICATION_SOURCE)
    editor.change(query.pk, doc_id, present, change)
    editor.save()
    return bool(editor.log)
