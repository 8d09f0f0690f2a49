"""The queries of cases: added, changed, moved and removed."""

from typing import Annotated, Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Body, Query, Router, Schema, Status
from pydantic import Field

from relevancy import queries, tasks
from relevancy.models import Case, CaseQuery, Role

from .access import Id, Number, ObjectId, check_book_editable, find, get_case, lockable
from .authentication import READ, WRITE, ApiRequest
from .inputs import Input
from .paging import Page, PageParameters, paginate
from .preconditions import IfMatch, check_if_match, set_etag

MAX_QUERIES = 1_000  # in one request
HINT = "Queries belong to the book."
router = Router(tags=["Queries"])


class CaseQueryDetails(Schema):
    """A query of a case. query_id: what ratings refer to, which other cases on the same book may share."""

    id: int
    query_id: int
    text: str = Field(validation_alias="query.text", examples=["star wars"])
    information_need: str = Field(validation_alias="query.information_need")
    reference_answer: str = Field(validation_alias="query.reference_answer")
    tags: list[str] = Field(validation_alias="query.tags")
    weight: float = Field(examples=[1])
    options: dict[str, Any] = Field(examples=[{"lang": "en"}])


class NewQuery(Input):
    text: str = Field(pattern=r"\S", max_length=2048, examples=["star wars"])


class RejectedQuery(Schema):
    """Why a text cannot be a query. number: its position in the request, from 1."""

    number: int
    message: str


class AddedQueries(Schema):
    """What became of new queries. repeated: texts that the case has already, or that were sent twice."""

    added: list[CaseQueryDetails]
    repeated: list[str]
    rejected: list[RejectedQuery]


class CaseQueryChanges(Input):
    """What to change. Fields that are left out or null stay as they are. before, after: another query of the case, by `query_id`."""

    text: str | None = Field(
        None, pattern=r"\S", max_length=2048, examples=["star wars"], description="Changes in every case on the book."
    )
    weight: Number | None = Field(None, ge=0, lt=1_000_000, examples=[2.5])
    options: dict[str, Any] | None = Field(
        None, examples=[{"lang": "en"}], description="They replace the present ones."
    )
    before: ObjectId | None = Field(None, description="Moves the query directly before another one.")
    after: ObjectId | None = Field(None, description="Moves the query directly after another one.")


@router.get("/cases/{case_id}/queries", auth=READ, response=Page[CaseQueryDetails])
def list_case_queries(request: ApiRequest, case_id: Id, page: Query[PageParameters]) -> dict[str, Any]:
    """The queries of a case in their order."""
    present = get_case(request, case_id).case_queries.present().select_related("query")
    return paginate(present, page, "position", "id")


@router.post("/cases/{case_id}/queries", auth=WRITE, response={201: AddedQueries})
def add_queries(
    request: ApiRequest,
    case_id: Id,
    body: Annotated[NewQuery | Annotated[list[NewQuery], Field(min_length=1, max_length=MAX_QUERIES)], Body()],
) -> Status[dict[str, Any]]:
    """Adds a query or several, at the end. Needs the role editor on the case and on its book."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    check_book_editable(request, case, hint=HINT)
    texts = [new.text for new in (body if isinstance(body, list) else [body])]
    result = queries.add(case=case, texts=texts, by=request.user)
    if result.rejected and not result.added and not result.repeated:
        messages = [f"Query {number}: {message}" for number, message in result.rejected]
        raise ValidationError({"text": messages})
    tasks.enqueue_book_rescore(case.book_id)
    details = {
        "added": result.added,
        "repeated": result.repeated,
        "rejected": [{"number": number, "message": message} for number, message in result.rejected],
    }
    return Status(201, details)


@router.get("/cases/{case_id}/queries/{query_id}", auth=READ, response=CaseQueryDetails)
def read_case_query(request: ApiRequest, response: HttpResponse, case_id: Id, query_id: Id) -> CaseQueryDetails:
    """A query of a case. The ETag can be sent as If-Match when you change or remove it.

    What `queries/{query_id}` changes does not count as a change, except the text.
    """
    case_query = _find(get_case(request, case_id), query_id)
    if case_query.removed_at is not None:
        raise Http404
    return _tagged(response, case_query)


@router.patch("/cases/{case_id}/queries/{query_id}", auth=WRITE, response=CaseQueryDetails)
def change_case_query(
    request: ApiRequest,
    response: HttpResponse,
    case_id: Id,
    query_id: Id,
    changes: CaseQueryChanges,
    if_match: IfMatch,
) -> CaseQueryDetails:
    """Changes text, weight, options or position of a query. Needs the role editor on the case and on its book."""
    with transaction.atomic():
        case = get_case(request, case_id, needs=Role.EDITOR, lock=True)
        check_book_editable(request, case, hint=HINT)
        case_query = _find(case, query_id, lock=True)
        if case_query.removed_at is not None:
            raise Http404
        check_if_match(if_match, state=_state(case_query))
        edited = changes.dict(include={"text", "weight", "options"}, exclude_none=True)
        has_changed = queries.edit(case_query=case_query, by=request.user, **edited)
        if changes.before is not None or changes.after is not None:
            present, message = case.case_queries.present(), "The case has no query with the query_id {}."
            sides = {name: find(present, name, message, query=getattr(changes, name)) for name in ("before", "after")}
            queries.move(case=case, case_query=case_query, by=request.user, **sides)
    if has_changed:
        tasks.enqueue_book_rescore(case.book_id)
    return _tagged(response, case_query)


@router.delete("/cases/{case_id}/queries/{query_id}", auth=WRITE, response={204: None})
def remove_case_query(request: ApiRequest, case_id: Id, query_id: Id, if_match: IfMatch) -> Status[None]:
    """Removes a query from a case. Its ratings stay in the book; adding its text again restores it. Repeating it changes nothing."""
    with transaction.atomic():
        case = get_case(request, case_id, needs=Role.EDITOR, lock=True)
        case_query = _find(case, query_id, lock=True)
        is_present = case_query.removed_at is None
        if is_present:
            check_if_match(if_match, state=_state(case_query))
            queries.remove(case_query=case_query, by=request.user)
    if is_present:
        tasks.enqueue_book_rescore(case.book_id)
    return Status(204, None)


def _find(case: Case, query_id: int, *, lock: bool = False) -> CaseQuery:
    """Returns a query of a case, removed or not. Raises `Http404`."""
    rows = lockable(case.case_queries.select_related("query"), lock=lock)
    case_query: CaseQuery = get_object_or_404(rows, query=query_id)
    case_query.query.book = case.book
    return case_query


def _state(case_query: CaseQuery) -> object:
    """Returns what `change_case_query` changes."""
    return [case_query.query.text, case_query.weight, case_query.options, case_query.position]


def _tagged(response: HttpResponse, case_query: CaseQuery) -> CaseQueryDetails:
    return set_etag(response, CaseQueryDetails.from_orm(case_query), state=_state(case_query))
