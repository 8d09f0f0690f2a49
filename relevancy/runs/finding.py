"""Documents that an editor looks for with a query of their own, and where the run has them.

See docs/decisions/0062.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from relevancy import engines
from relevancy.models import Ranking, User
from relevancy.scores import QueryRatings, RatingRecord

from .page_requests import query_engine
from .results import ListedDocument

MAX_FOUND = 20  # documents that are shown
MAX_RANK = 1000  # up to which ranks beyond the depth of the run are looked up
MAX_TEXT = 500
FindMethod = Literal["query", "template", "ids"]


@dataclass(frozen=True)
class DocumentPosition:
    """Where a query of the run has a document.

    rank: in the run; None if the run did not return it.
    rank_now: in the index as it is now, if the run did not return the document.
    matches: whether the query matches the document now; None if the engine does not say.
    """

    rank: int | None = None
    rank_now: int | None = None
    matches: bool | None = None


@dataclass(frozen=True)
class FoundDocument(ListedDocument):
    """A document that was found. grade: by the rule of the book."""

    doc_id: str
    display: engines.Display
    fields: Mapping[str, Any]
    position: DocumentPosition
    grade: float | None
    judgments: Sequence[RatingRecord]
    own: RatingRecord | None

    @property
    def title(self) -> str:
        """What the document is called: its title, or its id without one."""
        return self.display.title or self.doc_id


@dataclass(frozen=True)
class FoundDocuments:
    """The documents found, at most `MAX_FOUND`, in the order of the engine.

    total: how many documents the engine counted; None if it does not.
    searched_ranks: how many ranks of the query of the run were looked through; fewer than `MAX_RANK` if it has fewer hits.
    rank_error: why ranks beyond the depth of the run are not known; empty if they are.
    """

    documents: Sequence[FoundDocument]
    total: int | None
    searched_ranks: int = 0
    rank_error: str = ""


def find_documents(ranking: Ranking, text: str, *, by: User, method: FindMethod = "query") -> FoundDocuments:
    """Searches the engine of a run for documents, and says where the run has each of them.

    method: `query`: `text` is a query in the engine's own simple syntax; `template`: the words that the template of the run
    searches for; `ids`: ids of documents, separated by blanks or commas, or one id with any characters.

    At most three requests to the engine: for the documents, for the ranks beyond the depth of the run, and for whether documents
    match that are on no such rank. Raises what `query_engine` raises.
    """
    with query_engine(ranking, by=by) as (engine, request):
        hits, total = _search(engine, text[:MAX_TEXT], request, method)
        finder = _PositionFinder(engine, ranking, request)
        positions = finder.positions([hit.id for hit in hits])
    return FoundDocuments(
        _rated(ranking, request.fields, hits, positions, by),
        total,
        finder.searched_ranks,
        str(finder.error) if finder.error else "",
    )


def _search(
    engine: engines.Engine, text: str, request: engines.Request, method: FindMethod
) -> tuple[Sequence[engines.Hit], int | None]:
    if method == "ids":
        whole = text.strip()
        ids = list(dict.fromkeys([whole, *whole.replace(",", " ").split()]))[: MAX_FOUND + 1]
        hits: Sequence[engines.Hit] = engine.lookup([doc_id for doc_id in ids if doc_id], request.fields)
        return hits[:MAX_FOUND], None
    first = replace(request, rows=MAX_FOUND, start=0, highlight=False)
    page = engine.find(text, first) if method == "query" else engine.search(replace(first, query=text))
    return list({hit.id: hit for hit in reversed(page.hits)}.values())[::-1], page.total


class _PositionFinder:
    """Finds out where the query of a ranking has documents.

    searched_ranks, error: as `FoundDocuments` has them, after `positions`.
    """

    def __init__(self, engine: engines.Engine, ranking: Ranking, request: engines.Request) -> None:
        self._engine = engine
        self._request = request
        self._ranks: dict[str, int] = {}
        for rank, hit in enumerate(ranking.hits, 1):
            self._ranks.setdefault(hit[0], rank)
        self.searched_ranks = 0
        self.error: engines.EngineError | None = None

    def positions(self, doc_ids: Sequence[str]) -> dict[str, DocumentPosition]:
        """Returns the position of each document."""
        positions = {doc_id: DocumentPosition(rank, matches=True) for doc_id, rank in self._ranks.items()}
        if all(doc_id in positions for doc_id in doc_ids):
            return positions
        try:
            positions = self._further_ranks() | positions
            unknown = [doc_id for doc_id in doc_ids if doc_id not in positions]
            if unknown and self._engine.abilities.explain_many:
                matching = self._engine.explain_many(self._request, unknown)
                positions |= {doc_id: DocumentPosition(matches=doc_id in matching) for doc_id in unknown}
        except engines.EngineError as error:
            self.error = error
        return positions

    def _further_ranks(self) -> dict[str, DocumentPosition]:
        """Returns the documents on the first `MAX_RANK` ranks in the index as it is now."""
        only_ids = engines.parse_fields(f"id:{self._request.fields.id}", self._request.fields.id)
        deep = replace(self._request, rows=MAX_RANK, start=0, fields=only_ids, highlight=False)
        ranks: dict[str, int] = {}
        hits = self._engine.search(deep).hits
        for rank, hit in enumerate(hits, 1):
            ranks.setdefault(hit.id, rank)
        self.searched_ranks = len(hits)
        return {doc_id: DocumentPosition(rank_now=rank, matches=True) for doc_id, rank in ranks.items()}


def _rated(
    ranking: Ranking,
    spec: engines.FieldSpec,
    hits: Sequence[engines.Hit],
    positions: Mapping[str, DocumentPosition],
    by: User,
) -> list[FoundDocument]:
    ratings = QueryRatings.read(ranking.query_id)
    grades = ratings.grades(ranking.run.case.book)
    return [
        FoundDocument(
            doc_id=hit.id,
            display=spec.display({**hit.fields, spec.id: hit.fields.get(spec.id, hit.id)}),
            fields=hit.fields,
            position=positions.get(hit.id, DocumentPosition()),
            grade=grades.get(hit.id),
            judgments=ratings.by_document.get(hit.id, ()),
            own=ratings.own(hit.id, by),
        )
        for hit in hits
    ]
