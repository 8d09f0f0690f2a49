"""The ratings of one query, read once for everything that depends on them: grades, scores and what raters see."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from relevancy.models import Book, Verdict, read_query_ratings
from relevancy.scoring import Scale

from .grades import RatingRow, combine_grades, counting, scale_of


@dataclass(frozen=True, slots=True)
class RatingRecord:
    """One rater's rating of a document. `value` is None unless the verdict is `Verdict.RATED`.

    pk: negative for a rating of an import that is not a row of `Rating` yet.
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
    _grades: dict[tuple[str, Scale], dict[str, float]] = field(default_factory=dict, init=False, compare=False)

    @classmethod
    def read(cls, query_id: int) -> QueryRatings:
        """Reads the ratings. One SQL statement."""
        records = sorted(map(_record, read_query_ratings(query_id)), key=lambda record: (record.updated_at, record.pk))
        return cls(query_id, records)

    @property
    def has_unmoved(self) -> bool:
        """Whether some are of an import, and have no `Rating` yet; see `current_ratings`."""
        return any(record.pk < 0 for record in self.records)

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
            self._grades[key] = self._combine(book)
        return self._grades[key]

    def _combine(self, book: Book) -> dict[str, float]:
        rows: dict[str, list[RatingRow]] = {}
        for doc_id, records in self.by_document.items():
            rated = [
                (record.is_adjudication, (record.value, (record.updated_at, record.pk)))
                for record in records
                if record.verdict == Verdict.RATED
            ]
            if rated:
                rows[doc_id] = counting(rated)
        return combine_grades(book, rows)


def _record(row: Sequence[Any]) -> RatingRecord:
    pk, query_id, doc_id, rater_id, name, email, *judged = row
    return RatingRecord(pk, query_id, doc_id, rater_id, name or email, *judged)
