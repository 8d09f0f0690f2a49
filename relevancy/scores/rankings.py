"""What scoring needs of a ranking and of its query, and what it returns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from relevancy.models import Book, Query, Ranking

from .grades import known_grades

MAX_ERROR_LENGTH = 500


@dataclass(frozen=True)
class RankingInput:
    """What scoring needs of a ranking. `ranking_id` is None until the ranking is stored; `hits` as in `Ranking`."""

    ranking_id: int | None
    query_id: int
    text: str
    options: Mapping[str, Any]
    total: int | None
    hits: Sequence[Sequence[Any]]

    @property
    def doc_ids(self) -> list[str]:
        return [hit[0] for hit in self.hits]

    def reordered(self, doc_ids: Iterable[str]) -> RankingInput:
        """Returns the ranking with these of its documents, in this order."""
        hits = {hit[0]: hit for hit in reversed(self.hits)}
        return replace(self, hits=[hits[doc_id] for doc_id in doc_ids])


def ranking_inputs(rankings: Iterable[Ranking]) -> list[RankingInput]:
    """Returns the inputs of all rankings whose search did not fail."""
    return [
        RankingInput(row.pk, row.query_id, row.text, row.options, row.total, row.hits)
        for row in rankings
        if not row.error_kind
    ]


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


@dataclass(frozen=True)
class RankingScore:
    """The scores of a ranking under a scorer.

    value: as the measure defines it.
    score, low, high, ideal: 0 to 100; None if the query is not scoreable, or if the scorer does not provide it.
    unrated: number of unrated documents among those considered.
    error: why the ranking could not be scored; empty if it could.
    error_kind: why a script was stopped, see `sandbox.Outcome.stopped`; empty for other errors.
    line: the line of the script that failed.
    console: what the script wrote to its console, if requested.
    """

    value: float | None = None
    score: float | None = None
    low: float | None = None
    high: float | None = None
    ideal: float | None = None
    unrated: int = 0
    error: str = ""
    error_kind: str = ""
    line: int | None = None
    console: tuple[str, ...] = ()
