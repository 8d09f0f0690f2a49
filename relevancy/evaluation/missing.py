"""Rated documents that a ranking does not show: known by their ratings, looked up in the engine on demand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from relevancy import engines
from relevancy.models import Ranking

from .chunk import moved_away
from .connecting import connect
from .grades import known_grades
from .results import Said, ratings_of

MOST = 100  # documents listed: those rated best


@dataclass(frozen=True)
class Missing:
    """A rated document that is not shown. `rank`: where it was returned below what is shown, None: not at all.

    `display` and `fields` only after a look-up; `gone`: the engine was asked, and has no such document (any more).
    """

    doc_id: str
    grade: float
    mine: float | None
    said: Sequence[Said]
    rank: int | None
    display: engines.Display | None = None
    fields: Mapping[str, Any] | None = None
    gone: bool = False


@dataclass(frozen=True)
class NotShown:
    """The documents, best grade first, and how many more there are."""

    documents: Sequence[Missing]
    more: int = 0


def not_shown(ranking: Ranking, *, by: Any, depth: int) -> NotShown:
    """The rated documents that are not among the first `depth` hits of a ranking. Two statements.

    A document whose ratings give no grade by the book's rule, such as “cannot judge”, is not among them.
    """
    grades = known_grades(ranking.run.case.book, [ranking.query_id])[ranking.query_id]
    ranks: dict[str, int] = {}
    for rank, hit in enumerate(ranking.hits, 1):
        ranks.setdefault(hit[0], rank)
    wanted = [doc_id for doc_id in grades if ranks.get(doc_id, depth + 1) > depth]
    wanted.sort(key=lambda doc_id: (-grades[doc_id], ranks.get(doc_id, len(ranks) + 1), doc_id))
    listed = wanted[:MOST]
    said = ratings_of(ranking.query_id, set(listed), by=by) if listed else {}
    return NotShown(
        [
            Missing(
                doc_id=doc_id,
                grade=grades[doc_id],
                mine=next((word.value for word in said[doc_id] if word.mine), None),
                said=said[doc_id],
                rank=ranks.get(doc_id),
            )
            for doc_id in listed
        ],
        len(wanted) - len(listed),
    )


def count_not_shown(ranking: Ranking, *, depth: int) -> int:
    """How many `not_shown` has, without who said what of them. One statement."""
    grades = known_grades(ranking.run.case.book, [ranking.query_id])[ranking.query_id]
    return len(grades.keys() - {hit[0] for hit in ranking.hits[:depth]})


def can_look_up(ranking: Ranking) -> bool:
    """Whether the engine that was asked finds documents by their ids."""
    return engines.get(ranking.run.asked["engine"]).abilities.lookup


def look_up(ranking: Ranking, documents: Sequence[Missing]) -> list[Missing]:
    """The same documents with their displayed fields as they are now, or `gone`. Asks the engine; raises `EngineError`."""
    run = ranking.run
    if moved := moved_away(run):
        raise engines.EngineError(moved)
    spec = engines.parse_fields(run.asked["fields"], engines.get(run.asked["engine"]).default_id_field)
    with connect(run.attempt.endpoint) as engine:
        if not engine.abilities.lookup:
            raise engines.EngineError(f"{engine.label} cannot look documents up by their ids.")
        hits = engine.lookup([document.doc_id for document in documents], spec)
    found = {hit.id: hit.fields for hit in hits}
    return [_completed(document, found.get(document.doc_id), spec) for document in documents]


def _completed(document: Missing, fields: Mapping[str, Any] | None, spec: engines.FieldSpec) -> Missing:
    if fields is None:
        return replace(document, gone=True)
    shown = {**fields, spec.id: fields.get(spec.id, document.doc_id)}
    return replace(document, display=spec.display(shown), fields=fields)
