"""Queries, and the ratings of their documents."""

from datetime import datetime
from typing import Annotated, Any

from django.db import transaction
from django.http import HttpResponse
from ninja import Body, Path, Query, Router, Schema
from pydantic import Field

from relevancy import queries, ratings, scores, tasks
from relevancy.models import Book, Rating, Role, User
from relevancy.models import Query as BookQuery

from .access import Id, Number, get_query
from .authentication import RATE, READ, WRITE, ApiRequest
from .inputs import Input
from .paging import Page, PageParameters, paginate
from .preconditions import IfMatch, PreconditionFailed, check_if_match, read_if_match, set_etag

MAX_RATINGS = 5_000  # in one request
MAX_TAGS = 100  # in one request, some of which may be the same
SOURCE = "api"
MAX_REVISION_DIGITS = 18
router = Router(tags=["Ratings"])

DocId = Annotated[str, Path(max_length=500, description="May contain slashes.", examples=["star-wars-1977"])]


class QueryDetails(Schema):
    """A query of a book. revision: increases with every change of its ratings."""

    id: int
    text: str = Field(examples=["star wars"])
    information_need: str
    reference_answer: str
    notes: str
    tags: list[str]
    book_id: int
    revision: int


class QueryChanges(Input):
    """What to change. Fields that are left out or null stay as they are."""

    information_need: str | None = Field(None, max_length=5_000, examples=["The films, not the television series."])
    reference_answer: str | None = Field(None, max_length=10_000, examples=["Star Wars: Episode IV, released in 1977."])
    notes: str | None = Field(None, max_length=20_000, examples=["Often typed with one r."])
    tags: list[str] | None = Field(
        None, max_length=MAX_TAGS, examples=[["films", "head"]], description="They replace those of the query."
    )


class RaterName(Schema):
    id: int
    name: str = Field(examples=["Ann"])

    @staticmethod
    def resolve_name(rater: User) -> str:
        return str(rater)


class RatingDetails(Schema):
    """One rater's judgment of a document. value: null unless the verdict is `rated`."""

    doc_id: str = Field(examples=["star-wars-1977"])
    rater: RaterName
    verdict: str = Field(examples=["rated"], description="rated, cannot or later")
    value: float | None = Field(examples=[3])
    note: str
    updated_at: datetime


class Grades(Schema):
    """The grade of each document that has one: its ratings, combined by the rule of the book, or the decision of an adjudicator."""

    grades: dict[str, float] = Field(examples=[{"star-wars-1977": 3, "star-trek-1979": 1}])


class NewRating(Input):
    value: Number = Field(examples=[3], description="A grade of the scale of the book.")


class ChangedRatings(Schema):
    """How many ratings changed. 0 if they had these values already."""

    changed: int = Field(examples=[1])


@router.get("/queries/{query_id}", auth=READ, response=QueryDetails)
def read_query(request: ApiRequest, response: HttpResponse, query_id: Id) -> QueryDetails:
    """A query. The ETag can be sent as If-Match when you change it; ratings do not count as a change."""
    return _query_details(response, get_query(request, query_id))


@router.patch("/queries/{query_id}", auth=WRITE, response=QueryDetails)
def change_query(
    request: ApiRequest, response: HttpResponse, query_id: Id, changes: QueryChanges, if_match: IfMatch
) -> QueryDetails:
    """Changes what raters read about a query, in every case on its book. Needs the role editor on the book."""
    with transaction.atomic():
        query = get_query(request, query_id, needs=Role.EDITOR, lock=True)
        check_if_match(if_match, state=_query_state(query))
        queries.describe(query=query, by=request.user, **changes.dict(exclude={"tags"}, exclude_none=True))
        if changes.tags is not None:
            queries.tags.set_tags(query=query, tags=changes.tags, by=request.user)
    return _query_details(response, query)


@router.get("/queries/{query_id}/ratings", auth=READ, response=Page[RatingDetails])
def list_ratings(
    request: ApiRequest, response: HttpResponse, query_id: Id, page: Query[PageParameters]
) -> dict[str, Any]:
    """The ratings of all raters, oldest first. The ETag can be sent as If-Match when you change them.

    Raters of a book who judge blind get those of documents that they have judged.
    """
    query = get_query(request, query_id)
    listed = Rating.objects.filter(query=query).select_related("rater")
    if _is_blind(request, query):
        listed = listed.filter(doc_id__in=scores.QueryRatings.read(query.pk).blind_for(request.user).by_document)
    return set_etag(response, paginate(listed, page, "id"), state=query.revision)


@router.get("/queries/{query_id}/grades", auth=READ, response=Grades)
def read_grades(request: ApiRequest, query_id: Id) -> dict[str, Any]:
    """The grade of each document, as scorers see it. Raters who judge blind get those of documents that they have judged."""
    query = get_query(request, query_id)
    ratings = scores.QueryRatings.read(query.pk)
    return {"grades": (ratings.blind_for(request.user) if _is_blind(request, query) else ratings).grades(query.book)}


@router.put("/queries/{query_id}/ratings", auth=RATE, response=ChangedRatings)
def rate_documents(
    request: ApiRequest,
    query_id: Id,
    values: Annotated[
        dict[str, Number],
        Body(max_length=MAX_RATINGS, examples=[{"star-wars-1977": 3, "star-trek-1979": 1}]),
    ],
    if_match: IfMatch,
) -> dict[str, int]:
    """Rates documents: `{document id: grade}`. Your ratings of other documents stay. Repeating it changes nothing."""
    query = get_query(request, query_id, needs=Role.RATER)
    return _rate(request, query, values, if_match)


@router.put("/queries/{query_id}/ratings/{path:doc_id}", auth=RATE, response=ChangedRatings)
def rate_document(
    request: ApiRequest, query_id: Id, doc_id: DocId, rating: NewRating, if_match: IfMatch
) -> dict[str, int]:
    """Rates one document. Repeating it changes nothing."""
    query = get_query(request, query_id, needs=Role.RATER)
    return _rate(request, query, {doc_id: rating.value}, if_match)


@router.delete("/queries/{query_id}/ratings/{path:doc_id}", auth=RATE, response=ChangedRatings)
def remove_rating(request: ApiRequest, query_id: Id, doc_id: DocId, if_match: IfMatch) -> dict[str, int]:
    """Removes your own rating of a document. Repeating it changes nothing."""
    query = get_query(request, query_id, needs=Role.RATER)
    changed = ratings.remove(
        query=query, doc_ids=[doc_id], by=request.user, source=SOURCE, expected_revision=_revision(if_match)
    )
    return _rescored(query, changed)


def _is_blind(request: ApiRequest, query: BookQuery) -> bool:
    return Book.objects.hides_grades(query.book_id, request.user)


def _query_details(response: HttpResponse, query: BookQuery) -> QueryDetails:
    return set_etag(response, QueryDetails.from_orm(query), state=_query_state(query))


def _query_state(query: BookQuery) -> object:
    return [query.text, query.information_need, query.reference_answer, query.notes, query.tags]


def _rate(request: ApiRequest, query: BookQuery, values: dict[str, float], if_match: str) -> dict[str, int]:
    changed = ratings.rate_many(
        query=query, values=values, by=request.user, source=SOURCE, expected_revision=_revision(if_match)
    )
    return _rescored(query, changed)


def _rescored(query: BookQuery, changed: int) -> dict[str, int]:
    if changed:
        tasks.enqueue_book_rescore(query.book_id)
    return {"changed": changed}


def _revision(if_match: str) -> int | None:
    """Returns the revision that an ETag of ratings names; None if any will do. Raises `PreconditionFailed`."""
    state = read_if_match(if_match)
    if state is None:
        return None
    if not state.isdecimal() or len(state) > MAX_REVISION_DIGITS:
        raise PreconditionFailed("If-Match is not an ETag of the ratings of a query. Read them again.")
    return int(state)
