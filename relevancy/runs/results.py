"""A ranking as raters see it: documents with their grades, who rated them, and how they moved since the run before."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from relevancy import engines
from relevancy.models import Ranking, User
from relevancy.scores import QueryRatings, RatingRecord

from .explanations import DocumentExplanation, stored_explanations
from .requests import field_spec

_HAS_LETTER = re.compile(r"[^\W\d_]")
SHORT_LENGTH = 90  # characters of a displayed field that fits on one line with others


@dataclass(frozen=True)
class ShortField:
    """A displayed field on one line with others: its name, and its text in pieces, each with whether it is highlighted."""

    name: str
    pieces: Sequence[tuple[str, bool]]

    @property
    def needs_name(self) -> bool:
        """Whether its text says nothing without its name, such as a bare number."""
        return not any(_HAS_LETTER.search(text) for text, _ in self.pieces)


class ListedDocument:
    """What rows of documents say of each: its displayed fields, and who judged it.

    display: None if the engine was not asked for the document. own: the user's own judgment, one of `judgments`.
    """

    display: engines.Display | None
    judgments: Sequence[RatingRecord]
    own: RatingRecord | None

    @property
    def mine(self) -> float | None:
        """The user's own grade."""
        return self.own.value if self.own else None

    @property
    def others(self) -> Sequence[RatingRecord]:
        """The judgments of other raters. Whether there are any does not depend on what the user does."""
        return [judgment for judgment in self.judgments if judgment is not self.own]

    @property
    def adjudicator(self) -> str:
        """The name of the rater whose decision counts instead of all other ratings; empty if there is none."""
        return next((judgment.rater_name for judgment in self.judgments if judgment.is_adjudication), "")

    @property
    def differs_from_others(self) -> bool:
        """Whether another rater judged the document otherwise than the user, or the user has not judged it."""
        return self.own is None or any(judgment.value != self.own.value for judgment in self.others)

    @property
    def long_name(self) -> str:
        """The name of the longest displayed field if it does not fit on one line with others, else an empty string."""
        subs = self.display.subs if self.display else ()
        name, text = max(subs, key=lambda sub: len(sub[1]), default=("", ""))
        return name if len(text) > SHORT_LENGTH else ""

    @property
    def long_pieces(self) -> Sequence[tuple[str, bool]]:
        """The text of the longest displayed field, if it gets a paragraph of its own, in pieces: each with whether it is
        highlighted."""
        return next((pieces for name, pieces in self._snippets if name == self.long_name), ())

    @property
    def short_fields(self) -> Sequence[ShortField]:
        """The other displayed fields, which stand on one line."""
        return [ShortField(name, pieces) for name, pieces in self._snippets if name != self.long_name]

    @property
    def _snippets(self) -> Sequence[tuple[str, Sequence[tuple[str, bool]]]]:
        return self.display.snippets if self.display else ()


@dataclass(frozen=True)
class Result(ListedDocument):
    """One ranked document.

    grade: of all raters by the rule of the book.
    moved: ranks gained since the run before, negative if lost; None if the document was not returned before.
    new: whether it was not returned by the run before.
    repeat: whether it was already returned at a better rank.
    explanation: why it has its engine score, if that has been asked for.
    """

    rank: int
    doc_id: str
    score: float | None
    spec: engines.FieldSpec
    fields: Mapping[str, Any]
    highlights: Sequence[Any]
    repeat: bool
    grade: float | None
    judgments: Sequence[RatingRecord]
    own: RatingRecord | None
    moved: int | None
    new: bool
    explanation: DocumentExplanation | None = None

    @cached_property
    def display(self) -> engines.Display:  # type: ignore[override]  # of those results that are drawn
        """Its displayed fields."""
        return self.spec.display(
            {**self.fields, self.spec.id: self.fields.get(self.spec.id, self.doc_id)}, *self.highlights
        )

    @property
    def lost(self) -> int:
        """Ranks lost since the run before, as a positive number."""
        return -(self.moved or 0)

    @property
    def engine_score(self) -> float | None:
        """The engine score of the run; that of the explanation if the run has none, because the hits were sorted otherwise."""
        return self.explanation.score if self.score is None and self.explanation else self.score

    @property
    def has_other_score(self) -> bool:
        """Whether the explanation adds up to another engine score than that of the run: the index has changed."""
        return self.explanation is not None and self.explanation.differs_from(self.score)


def build_results(
    ranking: Ranking, *, by: User, depth: int, before: Ranking | None = None, ratings: QueryRatings | None = None
) -> list[Result]:
    """Returns the first `depth` hits of a ranking as the user `by` sees them.

    before: the ranking of the same query in the run before.
    ratings: of the query; unless given, they are read with one SQL statement.
    """
    spec = field_spec(ranking.run.config)
    ratings = ratings or QueryRatings.read(ranking.query_id)
    grades = ratings.grades(ranking.run.case.book)
    ranks_before = {doc_id: rank for rank, doc_id in reversed(list(enumerate(before.doc_ids, 1)))} if before else {}
    explanations = stored_explanations(ranking)
    returned: set[str] = set()
    results = []
    for rank, (doc_id, score, fields, *highlights) in enumerate(ranking.hits[:depth], 1):
        results.append(
            Result(
                rank=rank,
                doc_id=doc_id,
                score=score,
                spec=spec,
                fields=fields,
                highlights=highlights,
                repeat=doc_id in returned,
                grade=grades.get(doc_id),
                judgments=ratings.by_document.get(doc_id, ()),
                own=ratings.own(doc_id, by),
                moved=ranks_before[doc_id] - rank if doc_id in ranks_before else None,
                new=before is not None and doc_id not in ranks_before,
                explanation=explanations.get(doc_id),
            )
        )
        returned.add(doc_id)
    return results
