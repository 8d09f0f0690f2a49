"""Grades of documents: the ratings of all raters, combined by the rule of the book. Those of one query are read once for everything
that depends on them: grades, scores and what raters see."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import batched
from types import MappingProxyType
from typing import Any

from django.db.models import ExpressionWrapper, F, QuerySet, TextField

from relevancy import scoring
from relevancy.models import Book, Query, Rating, User, Verdict, compiled

BATCH = 500
# The time as the driver returns it, only to be compared: giving it a time zone takes a sixth of the time of an export.
_MOMENT = ExpressionWrapper(F("updated_at"), TextField())
_RECORD = (
    *("pk", "doc_id", "rater_id", "rater__name", "rater__email"),
    *("verdict", "value", "note", "updated_at", "is_adjudication"),
)
_COLUMNS = ("query_id", "doc_id", "rater_id", "is_adjudication", "value", _MOMENT, "id")

type RatingRow = tuple[int, str, int, bool, float, Any, int]
"""The ids of query, document and rater; whether it is the adjudication; its value, its time, and its id, which decides between two
ratings of the same moment."""

type Counts = Callable[[int, str, int], bool]
"""Returns whether a rating counts: of the id of the query, the document id and the id of the rater."""


_scale = lru_cache(maxsize=256)(scoring.Scale)  # checks itself, which is too much for every rating of a page


def scale_of(book: Book) -> scoring.Scale:
    """Returns the rating scale of a book."""
    return _scale(book.grades, book.relevant_from)


def combine_grades(
    book: Book, rows: Iterable[RatingRow], new_values: Mapping[float, float] = MappingProxyType({})
) -> dict[int, dict[str, float]]:
    """Returns `{query id: {document id: grade}}` by the book's rule: of the adjudication of a document if there is one, else of all its
    ratings.

    new_values: `{value: the value that counts instead}`, to see what other ratings would lead to.
    """
    ratings: dict[int, dict[str, list[RatingRow]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        ratings[row[0]][row[1]].append(row)
    scale = scale_of(book)
    single_grades: dict[float, float | None] = {}  # of documents that have one rating, by its value
    grades: dict[int, dict[str, float]] = {}
    for query_id, documents in ratings.items():
        grades_of_query = grades[query_id] = {}
        for doc_id, given in documents.items():
            value = given[0][4]
            if len(given) == 1 and value in single_grades:
                grade = single_grades[value]
            else:
                counting = [row for row in given if row[3]] or given
                counted = [(new_values.get(row[4], row[4]), row[5:]) for row in counting]
                grade = scoring.combine_ratings(counted, book.rule, scale)
                if len(given) == 1:
                    single_grades[value] = grade
            if grade is not None:
                grades_of_query[doc_id] = grade
    return grades


def known_grades(
    book: Book,
    query_ids: Iterable[int],
    new_values: Mapping[float, float] | None = None,
    *,
    rater_id: int | None = None,
    counts: Counts | None = None,
) -> dict[int, dict[str, float]]:
    """Returns `{query id: {document id: grade}}` for all `query_ids`; unrated documents are absent. One SQL statement per 500.

    new_values: see `combine_grades`. rater_id: as if the ratings of this
    user were the only ones. counts: as if there were no others than those that it returns True for.
    """
    query_ids = list(query_ids)
    rows: list[RatingRow] = []
    for batch in batched(query_ids, BATCH):
        rater_filter = {} if rater_id is None else {"rater": rater_id}
        stored = Rating.objects.filter(query_id__among=batch, value__isnull=False, **rater_filter).order_by()
        rows += [row for row in stored.values_list(*_COLUMNS) if counts is None or counts(*row[:3])]
    grades = combine_grades(book, rows, new_values or {})
    return {query_id: grades.get(query_id, {}) for query_id in query_ids}


@dataclass(frozen=True)
class GradedQueries:
    """Queries of a book with what their scores are computed from.

    grades: `{query id: {document id: grade}}`.
    revisions: by query id, read before the grades: a change that arrives in between leaves a score that is stale, never a wrong score
        that looks current. Absent where scores are not stored.
    """

    book: Book
    grades: Mapping[int, Mapping[str, float]]
    revisions: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def read(cls, book: Book, query_ids: Collection[int]) -> GradedQueries:
        """Reads revisions, the settings of the book, and grades, in this order."""
        revisions = dict(Query.objects.filter(pk__among=query_ids).values_list("pk", "revision"))
        book.refresh_settings()
        return cls(book, known_grades(book, query_ids), revisions)


@dataclass(frozen=True, slots=True)
class RatingRecord:
    """One rater's rating of a document. `value` is None unless the verdict is `Verdict.RATED`.

    is_adjudication: whether it counts instead of all other ratings of the document.
    """

    pk: int
    query_id: int
    doc_id: str
    rater_id: int
    rater_name: str
    verdict: str
    value: float | None
    note: str
    updated_at: datetime
    is_adjudication: bool = False


def _in_order(ratings: QuerySet[Rating]) -> QuerySet[Any]:
    return ratings.order_by("updated_at", "pk").values_list("query_id", *_RECORD)


@compiled
def _records(query_id: int) -> QuerySet[Any]:
    return _in_order(Rating.objects.filter(query_id=query_id))


@dataclass(frozen=True)
class QueryRatings:
    """All ratings that count for one query, oldest first."""

    query_id: int
    records: Sequence[RatingRecord]
    _grades: dict[tuple[str, scoring.Scale], dict[str, float]] = field(default_factory=dict, init=False, compare=False)

    @classmethod
    def read(cls, query_id: int) -> QueryRatings:
        """Reads the ratings. One SQL statement."""
        return cls._by_query([query_id], _records(query_id))[query_id]

    @classmethod
    def read_many(cls, query_ids: Sequence[int]) -> dict[int, QueryRatings]:
        """Reads the ratings of several queries, and returns them by query id. One SQL statement."""
        return cls._by_query(query_ids, _in_order(Rating.objects.filter(query_id__in=query_ids)))

    @classmethod
    def _by_query(cls, query_ids: Sequence[int], rows: Iterable[Any]) -> dict[int, QueryRatings]:
        records: dict[int, list[RatingRecord]] = {query_id: [] for query_id in query_ids}
        for query_id, pk, doc_id, rater_id, name, email, *judged in rows:
            records[query_id].append(RatingRecord(pk, query_id, doc_id, rater_id, name or email, *judged))
        return {query_id: cls(query_id, of_query) for query_id, of_query in records.items()}

    @cached_property
    def by_document(self) -> Mapping[str, Sequence[RatingRecord]]:
        """`{document id: ratings}`, oldest first; unrated documents are absent."""
        ratings: dict[str, list[RatingRecord]] = defaultdict(list)
        for record in self.records:
            ratings[record.doc_id].append(record)
        return dict(ratings)

    def own(self, doc_id: str, by: User) -> RatingRecord | None:
        """Returns a user's rating of a document."""
        return next((record for record in self.by_document.get(doc_id, ()) if record.rater_id == by.pk), None)

    def blind_for(self, user: User) -> QueryRatings:
        """Returns the user's own ratings, and those of others only of documents that the user has judged. For users who must not see
        the others; see `BookQuerySet.hides_grades`."""
        judged = {
            record.doc_id for record in self.records if record.rater_id == user.pk and record.verdict != Verdict.LATER
        }
        seen = [record for record in self.records if record.rater_id == user.pk or record.doc_id in judged]
        return QueryRatings(self.query_id, seen)

    def grades(self, book: Book) -> dict[str, float]:
        """Returns `{document id: grade}` by the rule of the book; documents without a grade are absent. Combined once for all that
        a page shows of them."""
        key = book.rule, scale_of(book)
        if key not in self._grades:
            rows = [
                (
                    self.query_id,
                    rated.doc_id,
                    rated.rater_id,
                    rated.is_adjudication,
                    rated.value,
                    rated.updated_at,
                    rated.pk,
                )
                for rated in self.records
                if rated.value is not None
            ]
            self._grades[key] = combine_grades(book, rows).get(self.query_id, {})
        return self._grades[key]
