"""Documents on which raters disagree, and the decisions of adjudicators about them.

See docs/decisions/0110.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from relevancy import scores
from relevancy.models import (
    Book,
    JudgingPair,
    Query,
    Ranking,
    Rating,
    RatingChange,
    RatingSpread,
    User,
    Verdict,
    read_doc_ids,
)
from relevancy.ratings.changes import REMOVAL, Change, store_changes
from relevancy.ratings.ratings import changing_ratings, clean_doc_id, clean_value

from .judging_documents import JudgedDocument, read_documents

ADJUDICATION_SOURCE = "adjudication"
OPEN, DECIDED = "open", "decided"
RANKINGS_READ = 5  # of a query, for a document that is not to be judged any more


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


def find_conflicts(
    *, book: Book, difference: float, state: str = OPEN, query: Query | None = None, judged_by: User | None = None
) -> QuerySet[Any]:
    """Returns the documents with ratings that differ by `difference` or more: the largest difference first, then most ratings.

    Rows of `query_id` and `doc_id`; `read_conflicts` reads them. The rating of an adjudicator is not one of those that differ.
    `state`: `OPEN` without an adjudication, `DECIDED` with one, empty for all. judged_by: only documents that this user has judged.
    """
    rows: QuerySet[Any] = RatingSpread.objects.filter(
        query__book=book, query__retired_at=None, count__gte=2, spread__gte=difference
    )
    if query is not None:
        rows = rows.filter(query=query)
    if judged_by is not None:
        own = Rating.objects.filter(query=OuterRef("query"), doc_id=OuterRef("doc_id"), rater=judged_by)
        rows = rows.filter(Exists(own.exclude(verdict=Verdict.LATER)))
    if state:
        rows = rows.filter(decisions=1 if state == DECIDED else 0)
    return rows.order_by("-spread", "-count", "query_id", "doc_id").values("query_id", "doc_id")


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


def read_rated_documents(rated: Iterable[Conflict | Rating], *, by: User) -> dict[tuple[int, str], JudgedDocument]:
    """Returns `{(query id, document id): document}` of the documents that the judging queue of the book has, as a run stores them, and
    of those that one of the newest results of their query have.

    Four SQL statements, and up to three per query.
    """
    wanted: dict[int, set[str]] = defaultdict(set)
    for row in rated:
        wanted[row.query.pk].add(row.doc_id)
    doc_ids = {doc_id for ids in wanted.values() for doc_id in ids}
    pairs = []
    for pair in JudgingPair.objects.filter(query__in=wanted, doc_id__in=doc_ids):
        if pair.doc_id in wanted[pair.query_id]:
            pairs.append(pair)
            wanted[pair.query_id].remove(pair.doc_id)
    for query_id, missing in wanted.items():
        newest = Ranking.objects.filter(query=query_id, error_kind="").order_by("-run_id") if missing else ()
        for ranking in read_doc_ids(newest[:RANKINGS_READ]):
            found = missing.intersection(ranking.doc_ids)
            pairs += [JudgingPair(query_id=query_id, doc_id=doc_id, run_id=ranking.run_id) for doc_id in found]
            missing -= found
    return {(document.pair.query_id, document.pair.doc_id): document for document in read_documents(pairs, by=by)}


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
    with changing_ratings(query, expected_scale=expected_scale) as log:
        change = Change(clean_value(value, query.book), note=note, is_adjudication=True)
        present = Rating.objects.filter(query=query, doc_id=doc_id, is_adjudication=True).exclude(rater=by).first()
        if present is not None:
            log += _withdraw(query, present, by)
        log += store_changes({query.pk: {doc_id: change}}, rater=by, by=by, source=ADJUDICATION_SOURCE)
    return bool(log)


def withdraw_adjudication(*, query: Query, doc_id: str, by: User) -> bool:
    """Takes back the decision of any user about a document. The adjudicator's rating becomes what it was before, if there was one.

    Returns whether there was a decision.
    """
    with changing_ratings(query) as log:
        present = Rating.objects.filter(query=query, doc_id=doc_id, is_adjudication=True).first()
        if present is not None:
            log += _withdraw(query, present, by)
    return bool(log)


def undo_adjudication(*, book: Book, by: User) -> Rating | None:
    """Takes back the newest decision of a user that stands in a book. Returns the rating that it was; None if there is none."""
    decisions = Rating.objects.filter(query__book=book, rater=by, is_adjudication=True).select_related("query__book")
    newest: Rating | None = decisions.order_by("-updated_at", "-pk").first()
    if newest is not None:
        withdraw_adjudication(query=newest.query, doc_id=newest.doc_id, by=by)
    return newest


def _withdraw(query: Query, present: Rating, by: User) -> list[RatingChange]:
    """Makes an adjudication what it was before. Call it in the transaction that has locked the query."""
    changes = RatingChange.objects.filter(query=query, doc_id=present.doc_id, rater=present.rater_id)
    decision = changes.filter(new_is_adjudication=True, old_is_adjudication=False).order_by("-pk").first()
    if decision is None or not decision.old_verdict:
        change = REMOVAL
    elif query.book.remapped_at is not None and query.book.remapped_at > decision.at:
        # The former grade is one of another scale.
        change = Change.copying(present, is_adjudication=False)
    else:
        change = replace(Change.restoring(decision), undoes=None, is_adjudication=False)
    changed = {query.pk: {present.doc_id: change}}
    return store_changes(changed, rater=present.rater, by=by, source=ADJUDICATION_SOURCE)
