"""Books, and what to judge next in them."""

from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from ninja import Query, Router, Schema
from pydantic import Field

from relevancy import judgments, tasks
from relevancy.models import Role
from relevancy.transfer.agreement_json import AgreementResult, build_agreement

from .access import Id, get_book
from .authentication import RATE, READ, ApiRequest
from .paging import Page, PageParameters, paginate

MAX_PAIRS = 20
MAX_RATERS_COMPARED = 30  # pairs of raters, each of which takes a bootstrap
router = Router(tags=["Books"])


class BookDetails(Schema):
    """A book: a rating scale and the queries that are rated on it. rule: how several ratings of a document are combined."""

    id: int
    name: str = Field(examples=["Movies"])
    role: str = Field(examples=["rater"])
    scale: list[tuple[float, str]] = Field(examples=[[[0, "Poor"], [1, "Fair"], [2, "Good"], [3, "Perfect"]]])
    relevant_from: float
    rule: str = Field(examples=["latest"])
    query_count: int
    left_to_judge: int = Field(description="Documents that you can judge; at most 1,000 are counted.")


class PairDetails(Schema):
    """A document to judge for a query, as the run stored it. fields: null if it does not any more."""

    query_id: int
    text: str = Field(examples=["star wars"])
    information_need: str
    reference_answer: str
    doc_id: str = Field(examples=["star-wars-1977"])
    title: str = Field(examples=["Star Wars"])
    fields: dict[str, Any] | None


class Pairs(Schema):
    """What to judge next. No other rater gets these documents for ten minutes."""

    items: list[PairDetails]


class PairParameters(Schema):
    count: int = Field(3, ge=1, le=MAX_PAIRS)


@router.get("/books", auth=READ, response=Page[BookDetails])
def list_books(request: ApiRequest, page: Query[PageParameters]) -> dict[str, Any]:
    """The books that you may see."""
    rows, following = paginate(judgments.find_books(request.user), page, "id")
    items = [
        {
            "id": row.pk,
            "name": row.name,
            "role": Role(row.role).label,
            "scale": row.scale,
            "relevant_from": row.relevant_from,
            "rule": row.rule,
            "query_count": row.query_count,
            "left_to_judge": row.left,
        }
        for row in rows
    ]
    return {"items": items, "next": following}


@router.get("/books/{book_id}/agreement", auth=READ, response=AgreementResult)
def read_agreement(request: ApiRequest, book_id: Id) -> AgreementResult:
    """How far the raters of a book agree, with 95 % intervals, as `agreement --json` prints it.

    `by_pair` has the 30 pairs of raters with most documents in common. 422 for books of more than 200,000 ratings.
    """
    book = get_book(request, book_id)
    ratings = sum(grade.count for grade in judgments.count_by_grade(book))
    if ratings > judgments.MAX_AGREEMENT_RATINGS:
        raise ValidationError(
            f"The book has {ratings:,} ratings; at most {judgments.MAX_AGREEMENT_RATINGS:,} are compared while you wait. "
            "Use the command `relevancy agreement` on the server."
        )
    result, queries = judgments.measure_agreement(book=book), judgments.measure_query_agreement(book=book)
    return build_agreement(result, queries, book.grades, max_pairs=MAX_RATERS_COMPARED)


@router.get("/books/{book_id}/next", auth=RATE, response=Pairs)
def next_pairs(
    request: ApiRequest, response: HttpResponse, book_id: Id, parameters: Query[PairParameters]
) -> dict[str, Any]:
    """What to judge next, kept for you for ten minutes. Rate it with `queries/{query_id}/ratings/{doc_id}`."""
    book = get_book(request, book_id, needs=Role.RATER)
    queue = judgments.judging_queue(book)
    tasks.enqueue_judging_queue(queue)
    queue.refresh_from_db()
    pairs = judgments.next_pairs(queue=queue, by=request.user, count=parameters.count)
    documents = judgments.read_documents(pairs, by=request.user)
    response["Cache-Control"] = "no-store"
    items = [
        {
            "query_id": document.query.pk,
            "text": document.query.text,
            "information_need": document.query.information_need,
            "reference_answer": document.query.reference_answer,
            "doc_id": document.pair.doc_id,
            "title": document.title,
            "fields": dict(document.result.fields) if document.result else None,
        }
        for document in documents
    ]
    return {"items": items}
