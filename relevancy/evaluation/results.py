"""A ranking made ready to be looked at: documents with their grades, who rated them, and how they moved."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from relevancy import engines, scoring
from relevancy.models import Ranking, Rating, Verdict

from .grades import scale_of

SHORT = 90  # characters of a field that still fits beside others


@dataclass(frozen=True)
class Said:
    """One rater's word on a document. `value` None: cannot judge, or later."""

    rater: str
    mine: bool
    value: float | None
    verdict: str
    note: str
    at: datetime


@dataclass(frozen=True)
class Result:
    """One ranked document. `moved`: places gained since the run before (negative: lost), None: not known, `new`: it was not there."""

    rank: int
    doc_id: str
    score: float | None
    display: engines.Display
    fields: Mapping[str, Any]
    repeat: bool
    grade: float | None
    mine: float | None
    said: Sequence[Said]
    moved: int | None
    new: bool

    @property
    def lost(self) -> int:
        """Places lost since the run before, as a positive number."""
        return -(self.moved or 0)

    @property
    def _read(self) -> str:
        """The name of the longest displayed field, if it is a text to read and not a value."""
        name, text = max(self.display.subs, key=lambda sub: len(sub[1]), default=("", ""))
        return name if len(text) > SHORT else ""

    @property
    def long(self) -> str:
        """The longest displayed field, if it is a text to read and not a value."""
        return dict(self.display.subs).get(self._read, "")

    @property
    def short(self) -> str:
        """The other displayed fields on one line."""
        return " · ".join(text for name, text in self.display.subs if name != self._read)

    @property
    def long_pieces(self) -> Sequence[tuple[str, bool]]:
        """The longest displayed field in pieces, with whether each is marked; empty if none is a text to read."""
        return next((pieces for name, pieces in self.display.snippets if name == self._read), ())

    @property
    def short_pieces(self) -> Sequence[Sequence[tuple[str, bool]]]:
        """The other displayed fields, each in pieces."""
        return [pieces for name, pieces in self.display.snippets if name != self._read]


def results(ranking: Ranking, *, by: Any, depth: int, before: Ranking | None = None) -> list[Result]:
    """The first `depth` hits of a ranking. One SQL statement for everybody's ratings."""
    spec = engines.parse_fields(ranking.run.asked["fields"], engines.get(ranking.run.asked["engine"]).default_id_field)
    hits = ranking.hits[:depth]
    said = ratings_of(ranking.query_id, {hit[0] for hit in hits}, by=by)
    book = ranking.run.case.book
    scale = scale_of(book)
    places = {hit[0]: place for place, hit in reversed(list(enumerate(before.hits, 1)))} if before else {}
    seen: set[str] = set()
    found = []
    for rank, (doc_id, score, fields, *marked) in enumerate(hits, 1):
        words = said[doc_id]
        given = [(word.value, (word.at, place)) for place, word in enumerate(words) if word.verdict == Verdict.RATED]
        found.append(
            Result(
                rank=rank,
                doc_id=doc_id,
                score=score,
                display=spec.display({**fields, spec.id: fields.get(spec.id, doc_id)}, *marked),
                fields=fields,
                repeat=doc_id in seen,
                grade=scoring.combine(given, book.rule, scale) if given else None,
                mine=next((word.value for word in words if word.mine), None),
                said=words,
                moved=places[doc_id] - rank if doc_id in places else None,
                new=before is not None and doc_id not in places,
            )
        )
        seen.add(doc_id)
    return found


def ratings_of(query_id: int, doc_ids: set[str], *, by: Any) -> dict[str, list[Said]]:
    """Everybody's words on some documents of a query, oldest first."""
    said: dict[str, list[Said]] = defaultdict(list)
    rows = (
        Rating.objects.filter(query_id=query_id, doc_id__in=doc_ids)
        .select_related("rater")
        .order_by("changed_at", "id")
    )
    for row in rows:
        said[row.doc_id].append(
            Said(str(row.rater), row.rater_id == by.pk, row.value, row.verdict, row.note, row.changed_at)
        )
    return said
