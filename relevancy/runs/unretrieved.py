"""Rated documents that a ranking does not display: known by their ratings, looked up in the engine on demand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from relevancy import engines
from relevancy.models import Ranking, User
from relevancy.scores import QueryRatings, RatingRecord

from .page_requests import query_engine
from .results import ListedDocument

MAX_LISTED = 100


@dataclass(frozen=True)
class UnretrievedDocument(ListedDocument):
    """A rated document that is not displayed.

    rank: its rank below the displayed results; None if it was not returned.
    display, fields: None before `look_up`.
    gone: the engine was asked and does not have the document.
    """

    doc_id: str
    grade: float
    judgments: Sequence[RatingRecord]
    own: RatingRecord | None
    rank: int | None
    display: engines.Display | None = None
    fields: Mapping[str, Any] | None = None
    gone: bool = False

    @property
    def title(self) -> str:
        """What the document is called: its title if it was looked up, else its id."""
        return self.display.title if self.display and self.display.title else self.doc_id


@dataclass(frozen=True)
class UnretrievedDocuments:
    """The documents with the best grades, best first, and the number of further ones."""

    documents: Sequence[UnretrievedDocument]
    more: int = 0


def list_unretrieved(
    ranking: Ranking, *, by: User, depth: int, ratings: QueryRatings | None = None
) -> UnretrievedDocuments:
    """Returns the rated documents that are not among the first `depth` hits of a ranking.

    Documents without a grade by the rule of the book, such as those that raters cannot judge, are left out.

    ratings: of the query; unless given, they are read with one SQL statement.
    """
    ratings = ratings or QueryRatings.read(ranking.query_id)
    grades = ratings.grades(ranking.run.case.book)
    ranks: dict[str, int] = {}
    for rank, hit in enumerate(ranking.hits, 1):
        ranks.setdefault(hit[0], rank)
    doc_ids = [doc_id for doc_id in grades if ranks.get(doc_id, depth + 1) > depth]
    doc_ids.sort(key=lambda doc_id: (-grades[doc_id], ranks.get(doc_id, len(ranks) + 1), doc_id))
    listed = doc_ids[:MAX_LISTED]
    return UnretrievedDocuments(
        [
            UnretrievedDocument(
                doc_id=doc_id,
                grade=grades[doc_id],
                judgments=ratings.by_document.get(doc_id, ()),
                own=ratings.own(doc_id, by),
                rank=ranks.get(doc_id),
            )
            for doc_id in listed
        ],
        len(doc_ids) - len(listed),
    )


def count_unretrieved(ranking: Ranking, *, depth: int, ratings: QueryRatings | None = None) -> int:
    """Returns the number of documents that `list_unretrieved` finds."""
    ratings = ratings or QueryRatings.read(ranking.query_id)
    grades = ratings.grades(ranking.run.case.book)
    return len(grades.keys() - set(ranking.doc_ids[:depth]))


def look_up(ranking: Ranking, documents: Sequence[UnretrievedDocument], *, by: User) -> list[UnretrievedDocument]:
    """Returns the documents with their current displayed fields, or as `gone`.

    Queries the engine. Raises what `query_engine` raises.
    """
    with query_engine(ranking, by=by) as (engine, request):
        if not engine.abilities.lookup:
            raise engines.EngineError(f"{engine.label} does not support looking up documents by id.")
        hits = engine.lookup([document.doc_id for document in documents], request.fields)
    fields_by_id = {hit.id: hit.fields for hit in hits}
    return [_with_fields(document, fields_by_id.get(document.doc_id), request.fields) for document in documents]


def _with_fields(
    document: UnretrievedDocument, fields: Mapping[str, Any] | None, spec: engines.FieldSpec
) -> UnretrievedDocument:
    if fields is None:
        return replace(document, gone=True)
    display = spec.display({**fields, spec.id: fields.get(spec.id, document.doc_id)})
    return replace(document, display=display, fields=fields)
