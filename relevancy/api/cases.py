"""Cases and their queries."""

from datetime import datetime
from typing import Annotated, Any

from django.core.exceptions import ValidationError
from ninja import Body, Query, Router, Schema, Status
from pydantic import Field

from relevancy import queries, tasks
from relevancy.cases import find_cases
from relevancy.models import Book, Case, CaseQuery, CaseScorer, Role, Run
from relevancy.views.permissions import get_or_403

from .access import Id, get_case
from .authentication import READ, WRITE, ApiRequest
from .paging import Page, PageParameters, paginate
from .runs import RunDetails, run_details

MAX_QUERIES = 1_000  # in one request
router = Router(tags=["Cases"])


class CaseSummary(Schema):
    """A case. role: yours, which is viewer, rater, editor or owner."""

    id: int
    name: str = Field(examples=["Movies"])
    role: str = Field(examples=["editor"])
    book_id: int
    created_at: datetime
    archived_at: datetime | None


class CaseScorerDetails(Schema):
    """A scorer of a case in the version that scores it."""

    id: int
    name: str = Field(examples=["nDCG@10"])
    version: int


class CaseDetails(CaseSummary):
    """A case with its scorers, the primary one first, and its newest run."""

    owner: str
    query_count: int
    scorers: list[CaseScorerDetails]
    newest_run: RunDetails | None


class CaseQueryDetails(Schema):
    """A query of a case. query_id: what ratings refer to, which other cases on the same book may share."""

    id: int
    query_id: int
    text: str = Field(examples=["star wars"])
    information_need: str
    reference_answer: str
    tags: list[str]
    weight: float
    options: dict[str, Any]


class NewQuery(Schema):
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


class CaseFilter(PageParameters):
    text: str = Field(
        "", max_length=200, description="Words that the name of the case, of its engine or scorer contains."
    )
    archived: bool = Field(False, description="Archived cases instead of the others.")


@router.get("/cases", auth=READ, response=Page[CaseSummary])
def list_cases(request: ApiRequest, page: Query[CaseFilter]) -> dict[str, Any]:
    """The cases that you may see, oldest first."""
    visible = find_cases(request.user, archived=page.archived, text=page.text)
    rows, following = paginate(visible, page, "id")
    return {"items": [_summary(row) for row in rows], "next": following}


@router.get("/cases/{case_id}", auth=READ, response=CaseDetails)
def read_case(request: ApiRequest, case_id: Id) -> dict[str, Any]:
    """A case with its newest run and its scores."""
    found = get_case(request, case_id)
    scorers = CaseScorer.objects.filter(case=found).select_related("scorer", "version").defer("version__script")
    newest = Run.objects.newest_for(found).select_related("attempt", "created_by").first()
    if newest is not None:
        newest.case = found
    return {
        **_summary(found),
        "owner": str(found.owner),
        "query_count": found.case_queries.present().count(),
        "scorers": [
            {"id": row.scorer_id, "name": row.scorer.name, "version": row.version.number}
            for row in scorers.order_by("position", "id")
        ],
        "newest_run": run_details(newest) if newest else None,
    }


@router.get("/cases/{case_id}/queries", auth=READ, response=Page[CaseQueryDetails])
def list_case_queries(request: ApiRequest, case_id: Id, page: Query[PageParameters]) -> dict[str, Any]:
    """The queries of a case in their order."""
    present = get_case(request, case_id).case_queries.present().select_related("query")
    rows, following = paginate(present, page, "position", "id")
    return {"items": [_case_query(row) for row in rows], "next": following}


@router.post("/cases/{case_id}/queries", auth=WRITE, response={201: AddedQueries})
def add_queries(
    request: ApiRequest,
    case_id: Id,
    body: Annotated[NewQuery | Annotated[list[NewQuery], Field(min_length=1, max_length=MAX_QUERIES)], Body()],
) -> Status[dict[str, Any]]:
    """Adds a query or several, at the end. Needs the role editor on the case and on its book."""
    found = get_case(request, case_id, needs=Role.EDITOR)
    get_or_403(Book.objects, request.user, found.book_id, needs=Role.EDITOR, hint="Queries belong to the book.")
    texts = [new.text for new in (body if isinstance(body, list) else [body])]
    result = queries.add(case=found, texts=texts, by=request.user)
    if result.rejected and not result.added and not result.repeated:
        messages = [f"Query {number}: {message}" for number, message in result.rejected]
        raise ValidationError({"text": messages})
    tasks.send(tasks.rescore_case, found.pk)
    added = CaseQuery.objects.filter(pk__in=[row.pk for row in result.added]).select_related("query")
    details = {
        "added": [_case_query(row) for row in added],
        "repeated": result.repeated,
        "rejected": [{"number": number, "message": message} for number, message in result.rejected],
    }
    return Status(201, details)


def _summary(row: Case) -> dict[str, Any]:
    """Returns a case that was read by one of the access methods, which annotate the role."""
    return {
        "id": row.pk,
        "name": row.name,
        "role": Role(vars(row)["role"]).label,
        "book_id": row.book_id,
        "created_at": row.created_at,
        "archived_at": row.archived_at,
    }


def _case_query(row: CaseQuery) -> dict[str, Any]:
    return {
        "id": row.pk,
        "query_id": row.query_id,
        "text": row.query.text,
        "information_need": row.query.information_need,
        "reference_answer": row.query.reference_answer,
        "tags": row.query.tags,
        "weight": row.weight,
        "options": row.options,
    }
