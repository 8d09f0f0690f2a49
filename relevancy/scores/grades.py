"""Grades of documents: the ratings of all raters, combined by the rule of the book. Those of one query are read once for everything
that depends on them: grades, scores and what raters see."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import batched
from typing import Any

from django.db.models import ExpressionWrapper, F, TextField

from relevancy import scoring
from relevancy.models import Book, Query, Rating, Verdict

BATCH = 500
# The time as the driver returns it, only to be compared: giving it a time zone takes a sixth of the time of an export.
_MOMENT = ExpressionWrapper(F("updated_at"), TextField())
_RECORD = (
    *("pk", "doc_id", "rater_id", "rater__name", "rater__email"),
    *("verdict", "value", "note", "updated_at", "is_adjudication"),
)
_COLUMNS = ("query_id", "doc_id", "rater_id", "value", _MOMENT, "id", "is_adjudication")

type RatingRow = tuple[float | None, tuple[datetime, int]]
"""A rating's value, and its time with its id, which decides between two ratings of the same moment."""

type Counts = Callable[[int, str, int], bool]
"""Returns whether a rating counts: of the id of the query, the document id and the id of the rater."""


def scale_of(book: Book) -> scoring.Scale:
    """Returns the rating scale of a book."""
    return _scale(book.grades, book.relevant_from)


@lru_cache(maxsize=256)
def _scale(grades: tuple[float, ...], relevant_from: float) -> scoring.Scale:
    return scoring.Scale(grades, relevant_from)  # checks itself, which is too much for every rating of a page


def combine_grades(book: Book, ratings_by_document: Mapping[str, Iterable[RatingRow]]) -> dict[str, float]:
    """Returns `{document id: grade}` by the book's rule; documents without a grade are absent."""
    scale = scale_of(book)
    grades = {
        doc_id: scoring.combine_ratings(ratings, book.rule, scale) for doc_id, ratings in ratings_by_document.items()
    }
    return {doc_id: grade for doc_id, grade in grades.items() if grade is not None}


def counting(ratings: Sequence[tuple[bool, RatingRow]]) -> list[RatingRow]:
    """Returns the ratings of a document that its grade is combined from: the adjudication if there is one, else all.

    ratings: whether each is the adjudication, and its row.
    """
    return [row for is_adjudication, row in ratings if is_adjudication] or [row for _, row in ratings]


def known_grades(
    book: Book,
    query_ids: Iterable[int],
    new_values: Mapping[float, float] | None = None,
    *,
    rater_id: int | None = None,
    counts: Counts | None = None,
) -> dict[int, dict[str, float]]:
    """Returns `{query id: {document id: grade}}` for all `query_ids`; unrated documents are absent. One SQL statement per 500.

    new_values: `{value: the value that counts instead}`, to see what other ratings would lead to. rater_id: as if the ratings of this
    user were the only ones. counts: as if there were no others than those that it returns True for.
    """
    query_ids = list(query_ids)
    new_values = new_values or {}
    ratings: dict[int, dict[str, list[tuple[Any, ...]]]] = {query_id: defaultdict(list) for query_id in query_ids}
    for batch in batched(query_ids, BATCH):
        rater_filter = {} if rater_id is None else {"rater": rater_id}
        rows = Rating.objects.filter(query_id__in=batch, value__isnull=False, **rater_filter).order_by()
        for row in rows.values_list(*_COLUMNS):
            if counts is None or counts(*row[:3]):
                ratings[row[0]][row[1]].append(row)
    scale = scale_of(book)
    single_grades: dict[float, float | None] = {}  # the grade of a document that has one rating, by its value

    def combine(rows: Sequence[tuple[Any, ...]]) -> float | None:
        if len(rows) > 1:
            parts = [(row[6], (new_values.get(row[3], row[3]), (row[4], row[5]))) for row in rows]
            return scoring.combine_ratings(counting(parts), book.rule, scale)
        value = rows[0][3]
        if value not in single_grades:
            single_grades[value] = scoring.combine_ratings([(new_values.get(value, value), 0)], book.rule, scale)
        return single_grades[value]

    grades: dict[int, dict[str, float]] = {}
    for query_id, documents in ratings.items():
        combined = ((doc_id, combine(rows)) for doc_id, rows in documents.items())
        grades[query_id] = {doc_id: grade for doc_id, grade in combined if grade is not None}
    return grades


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
        revisions = dict(Query.objects.filter(pk__in=query_ids).values_list("pk", "revision"))
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


@dataclass(frozen=True)
class QueryRatings:
    """All ratings that count for one query, oldest first."""

    query_id: int
    records: Sequence[RatingRecord]
    _grades: dict[tuple[str, scoring.Scale], dict[str, float]] = field(default_factory=dict, init=False, compare=False)

    @classmethod
    def read(cls, query_id: int) -> QueryRatings:
        """Reads the ratings. One SQL statement."""
        rows = Rating.objects.filter(query=query_id).order_by("updated_at", "pk").values_list(*_RECORD)
        records = [
            RatingRecord(pk, query_id, doc_id, rater_id, name or email, *judged)
            for pk, doc_id, rater_id, name, email, *judged in rows
        ]
        return cls(query_id, records)

    @cached_property
    def by_document(self) -> Mapping[str, Sequence[RatingRecord]]:
        """`{document id: ratings}`, oldest first; unrated documents are absent."""
        ratings: dict[str, list[RatingRecord]] = defaultdict(list)
        for record in self.records:
            ratings[record.doc_id].append(record)
        return dict(ratings)

    def grades(self, book: Book) -> dict[str, float]:
        """Returns `{document id: grade}` by the rule of the book; documents without a grade are absent. Combined once for all that
        a page shows of them."""
        key = book.rule, scale_of(book)
        if key not in self._grades:
            rows = {}
            for doc_id, records in self.by_document.items():
                rated = [
                    (record.is_adjudication, (record.value, (record.updated_at, record.pk)))
                    for record in records
                    if record.verdict == Verdict.RATED
                ]
                rows[doc_id] = counting(rated)
            self._grades[key] = combine_grades(book, rows)
        return self._grades[key]
