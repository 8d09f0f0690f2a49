"""Books: their settings, their queries, and what to judge next in them."""

from datetime import datetime
from typing import Any, Literal

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpResponse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from relevancy import books, judging, scorers, tasks
from relevancy.models import Book, JudgingQueue, Role
from relevancy.models.errors import error_text
from relevancy.models.judging import MAX_DEPTH, MAX_RATINGS, MAX_REPEAT_SHARE

from .access import Id, Name, Number, get_book
from .authentication import RATE, READ, WRITE, ApiRequest
from .inputs import Input
from .paging import Page, PageParameters, paginate
from .preconditions import IfMatch, PreconditionFailed, check_if_match, set_etag
from .scales import Scale

MAX_PAIRS = 20
router = Router(tags=["Books"])


class BookSummary(Schema):
    """A book: a rating scale and the queries that are rated on it. rule: how several ratings of a document are combined."""

    id: int
    name: str = Field(examples=["Movies"])
    role: str = Field(validation_alias="role_label", examples=["rater"])
    scale: Scale
    relevant_from: float
    rule: str = Field(examples=["latest"])
    query_count: int
    left_to_judge: int = Field(
        validation_alias="left", description="Documents that you can judge; at most 1,000 are counted."
    )


class BookDetails(BookSummary):
    """A book with what raters read about its grades. owner: who may share it, besides owners of its teams."""

    owner: Name
    guidelines: str = Field(examples=["3: what the user wanted."])
    raters_are_blind: bool = Field(
        description="Raters see the grades of others only after they have rated a document themselves."
    )
    created_at: datetime


class BookChanges(Input):
    """What to change. Fields that are left out or null stay as they are."""

    name: str | None = Field(None, min_length=1, max_length=191, examples=["Movies"])
    guidelines: str | None = Field(
        None, max_length=20_000, examples=["3: what the user wanted."], description="Markdown."
    )
    raters_are_blind: bool | None = Field(None, strict=True)


class Grading(Schema):
    """How documents are graded. scale: the grades with their labels, ascending. rule: how several ratings of a document are combined.

    relevant_from: the lowest grade that counts as relevant.
    """

    scale: Scale
    relevant_from: float = Field(examples=[2])
    rule: str = Field(examples=["latest"])


class NewGrading(Input):
    """How documents are graded from now on. Ratings keep their grades: a scale on which one of them is missing is refused."""

    scale: str = Field(
        max_length=4_000,
        examples=["0 Poor, 1 Fair, 2 Good, 3 Perfect"],
        description="LOWEST:HIGHEST, or grades with labels.",
    )
    relevant_from: Number | None = Field(None, examples=[2], description="null: as suits the scale.")
    rule: Literal["latest", "mean", "median", "majority", "quepid"] = "latest"


class Judging(Input):
    """What is judged, and in which order. depth: how many results of each query, in the newest complete run of each case.

    repeat_share: of the documents that a rater has judged, in per cent, those that come again.
    """

    depth: int = Field(10, strict=True, ge=1, le=MAX_DEPTH)
    ratings_per_pair: int = Field(
        1, strict=True, ge=1, le=MAX_RATINGS, description="How many raters rate each document."
    )
    order: Literal["query", "rank", "weighted"] = Field(
        "query", description="Query by query; best ranks first; or random, better ranks sooner."
    )
    repeat_share: int = Field(0, strict=True, ge=0, le=MAX_REPEAT_SHARE)


class JudgingDetails(Judging):
    """What is judged, and in which order; “difference”: what changes the comparison of two runs most, which is chosen on the page."""

    order: str = Field(examples=["query"])  # type: ignore[assignment]


class BookCopy(Input):
    name: str = Field(min_length=1, max_length=191, examples=["Movies, graded again"])


class BookQueryDetails(Schema):
    """A query of a book. rated: documents with a grade. open: documents to judge that need more ratings."""

    query_id: int = Field(validation_alias="pk")
    text: str = Field(examples=["star wars"])
    information_need: str
    reference_answer: str
    tags: list[str] = Field(examples=[["films"]])
    rated: int = Field(examples=[12])
    open: int = Field(examples=[3])


class PairDetails(Schema):
    """A document to judge for a query, as the run stored it. fields: null if it does not any more."""

    query_id: int = Field(validation_alias="query.pk")
    text: str = Field(validation_alias="query.text", examples=["star wars"])
    information_need: str = Field(validation_alias="query.information_need")
    reference_answer: str = Field(validation_alias="query.reference_answer")
    doc_id: str = Field(validation_alias="pair.doc_id", examples=["star-wars-1977"])
    title: str = Field(examples=["Star Wars"])
    fields: dict[str, Any] | None

    @staticmethod
    def resolve_fields(document: judging.JudgedDocument) -> dict[str, Any] | None:
        return dict(document.result.fields) if document.result else None


class Pairs(Schema):
    """What to judge next. No other rater gets these documents for ten minutes.

    is_being_chosen: the documents of this book are being chosen for the first time, so there are none yet. Ask again.
    """

    items: list[PairDetails]
    is_being_chosen: bool


class PairParameters(Input):
    count: int = Field(3, ge=1, le=MAX_PAIRS)


@router.get("/books", auth=READ, response=Page[BookSummary])
def list_books(request: ApiRequest, page: Query[PageParameters]) -> dict[str, Any]:
    """The books that you may see."""
    return paginate(books.find_books(request.user), page, "id")


@router.get("/books/{book_id}", auth=READ, response=BookDetails)
def read_book(request: ApiRequest, response: HttpResponse, book_id: Id) -> BookDetails:
    """A book. The ETag can be sent as If-Match when you change it."""
    return _tagged(request, response, get_book(request, book_id))


@router.patch("/books/{book_id}", auth=WRITE, response=BookDetails)
def change_book(
    request: ApiRequest, response: HttpResponse, book_id: Id, changes: BookChanges, if_match: IfMatch
) -> BookDetails:
    """Changes the name of a book, what raters read about the grades, or whether they see the grades of others."""
    with transaction.atomic():
        book = get_book(request, book_id, needs=Role.EDITOR, lock=True)
        check_if_match(if_match, state=_state(book))
        books.change_book(book=book, by=request.user, **changes.dict(exclude_none=True))
    return _tagged(request, response, book)


@router.delete("/books/{book_id}", auth=WRITE, response={204: None})
def delete_book(request: ApiRequest, book_id: Id, if_match: IfMatch) -> Status[None]:
    """Deletes a book for good, with its queries and everybody's ratings. 422 if a case uses it, archived ones included."""
    book = get_book(request, book_id, needs=Role.OWNER)
    check_if_match(if_match, state=_state(book))
    books.delete_book(book=book, by=request.user)
    return Status(204, None)


@router.get("/books/{book_id}/queries", auth=READ, response=Page[BookQueryDetails])
def list_book_queries(request: ApiRequest, book_id: Id, page: Query[PageParameters]) -> dict[str, Any]:
    """The queries of a book, oldest first, with how many of their documents are rated."""
    return paginate(books.queries_with_coverage(get_book(request, book_id)), page, "id")


@router.post("/books/{book_id}/copies", auth=WRITE, response={201: BookDetails})
def copy_book(request: ApiRequest, response: HttpResponse, book_id: Id, new: BookCopy) -> Status[BookDetails]:
    """Copies a book with its queries, guidelines and all ratings. The copy is yours, is not shared, and no case uses it."""
    book = get_book(request, book_id, needs=Role.EDITOR)
    settings = books.BookSettings.of(book)
    copy = books.copy_book(book=book, name=new.name, settings=settings, by=request.user)
    response["Location"] = f"/api/v1/books/{copy.pk}"
    return Status(201, _tagged(request, response, get_book(request, copy.pk)))


@router.get("/books/{book_id}/grading", auth=READ, response=Grading)
def read_grading(request: ApiRequest, response: HttpResponse, book_id: Id) -> Grading:
    """The scale of a book, and its rule. The ETag can be sent as If-Match when you replace them."""
    grading = Grading.from_orm(get_book(request, book_id))
    return set_etag(response, grading, state=grading)


@router.put("/books/{book_id}/grading", auth=WRITE, response=Grading)
def change_grading(
    request: ApiRequest, response: HttpResponse, book_id: Id, new: NewGrading, if_match: IfMatch
) -> Grading:
    """Replaces scale and rule, and rescores the cases of the book. No rating changes. Repeating it changes nothing."""
    book = get_book(request, book_id, needs=Role.EDITOR)
    former = books.BookSettings.of(book)
    check_if_match(if_match, state=Grading.from_orm(book))
    if new.rule not in books.offered_rules(book):
        raise ValidationError(
            {"rule": f"The rule {new.rule} is only for books with imported ratings. Choose another one."}
        )
    scale = scorers.parse_scale(new.scale)
    settings = books.book_settings(rule=new.rule, scale=scale, relevant_from=new.relevant_from)
    if settings != former:
        try:
            books.change_settings(book=book, settings=settings, expected=former if if_match else None, by=request.user)
        except books.SettingsChanged as error:
            raise PreconditionFailed(error_text(error)) from None
        tasks.enqueue_book_rescore(book.pk)
    grading = Grading.from_orm(book)
    return set_etag(response, grading, state=grading)


@router.get("/books/{book_id}/judging", auth=READ, response=JudgingDetails)
def read_judging(request: ApiRequest, response: HttpResponse, book_id: Id) -> JudgingDetails:
    """What is judged in a book, and in which order. The ETag can be sent as If-Match when you replace it."""
    book = get_book(request, book_id)
    details = JudgingDetails.from_orm(JudgingQueue.objects.of_book(book))
    return set_etag(response, details, state=details)


@router.put("/books/{book_id}/judging", auth=WRITE, response=JudgingDetails)
def change_judging(
    request: ApiRequest, response: HttpResponse, book_id: Id, new: Judging, if_match: IfMatch
) -> JudgingDetails:
    """Replaces what is judged in a book; the documents are chosen again in the background. Repeating it changes nothing."""
    with transaction.atomic():
        book = get_book(request, book_id, needs=Role.EDITOR, lock=True)
        queue = judging.judging_queue(book)
        present = JudgingDetails.from_orm(queue)
        check_if_match(if_match, state=present)
        if new.dict() != present.dict():
            queue = judging.set_judging(book=book, **new.dict(), by=request.user)
    tasks.enqueue_judging_queue(queue)
    details = JudgingDetails.from_orm(queue)
    return set_etag(response, details, state=details)


@router.get("/books/{book_id}/next", auth=RATE, response=Pairs)
def next_pairs(
    request: ApiRequest, response: HttpResponse, book_id: Id, parameters: Query[PairParameters]
) -> dict[str, Any]:
    """What to judge next, kept for you for ten minutes. Rate it with `queries/{query_id}/ratings/{doc_id}`."""
    book = get_book(request, book_id, needs=Role.RATER)
    queue = judging.judging_queue(book)
    tasks.enqueue_judging_queue(queue)
    queue.refresh_from_db()
    pairs = judging.next_pairs(queue=queue, by=request.user, count=parameters.count)
    response["Cache-Control"] = "no-store"
    return {"items": judging.read_documents(pairs, by=request.user), "is_being_chosen": queue.built_at is None}


def _tagged(request: ApiRequest, response: HttpResponse, book: Book) -> BookDetails:
    details = BookDetails.from_orm(books.find_books(request.user).get(pk=book.pk))
    return set_etag(response, details, state=_state(book))


def _state(book: Book) -> object:
    """Returns what `change_book` changes."""
    return [book.name, book.guidelines, book.raters_are_blind]
