"""Attempts: numbered versions of the query template of a case."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.http import HttpResponse
from ninja import Query, Router, Schema, Status
from pydantic import Field, StrictBool

from relevancy import runs
from relevancy.models import Attempt, Endpoint, Role

from .access import Id, Name, Number, find, get_attempt, get_case
from .authentication import READ, WRITE, ApiRequest
from .inputs import Input
from .paging import Page, PageParameters, paginate
from .preconditions import IfMatch, check_if_match, set_etag

MAX_KNOBS = 200
router = Router(tags=["Attempts"])


class AttemptDetails(Schema):
    """An attempt. parent: the number of the attempt that it was made from."""

    number: int
    name: str
    note: str
    parent: int | None
    endpoint_id: int
    endpoint: str = Field(validation_alias="endpoint.name", examples=["shop"])
    template: str = Field(examples=["q=#$query##"])
    fields: str = Field(examples=["title:title id:id overview"])
    knobs: dict[str, float | str]
    depth: int = Field(examples=[10])
    escape: bool
    created_by: Name
    created_at: datetime
    archived_at: datetime | None

    @staticmethod
    def resolve_parent(attempt: Attempt) -> int | None:
        return attempt.parent.number if attempt.parent else None


class NewAttempt(Input):
    """What to query and how. parent: its number; if nothing differs from it, it is returned instead of a new attempt."""

    endpoint_id: int = Field(ge=1, le=2**63 - 1)
    template: str = Field(max_length=20_000, examples=["q=#$query##"])
    fields: str = Field("", max_length=2_000, examples=["title:title id:id"])
    knobs: dict[str, Number | str] = Field(
        default_factory=dict,
        max_length=MAX_KNOBS,
        description="Numbers and texts.",
        examples=[{"boost": 3, "mm": "2<75%"}],
    )
    depth: int = Field(10, strict=True, ge=1, le=1000)
    escape: bool | None = Field(
        None, description="Whether special characters of Lucene are escaped; null: as suits the engine."
    )
    parent: int | None = Field(None, ge=1, le=2**31 - 1)
    name: str = Field("", max_length=120)


class AttemptChanges(Input):
    """What to change. Fields that are left out or null stay as they are."""

    name: str | None = Field(None, max_length=120, examples=["Boost titles"])
    note: str | None = Field(None, max_length=2_000, examples=["Titles counted too little."])
    archived: StrictBool | None = Field(
        None, description="true leaves the attempt out of the tree, and keeps its runs; false restores it."
    )


class AttemptFilter(PageParameters):
    archived: bool = Field(
        False, description="Archived attempts, such as those of imported runs, instead of the others."
    )


@router.get("/cases/{case_id}/attempts", auth=READ, response=Page[AttemptDetails])
def list_attempts(request: ApiRequest, case_id: Id, page: Query[AttemptFilter]) -> dict[str, Any]:
    """The attempts of a case, newest first, except archived ones."""
    attempts = get_case(request, case_id).attempts.filter(archived_at__isnull=not page.archived)
    attempts = attempts.select_related("endpoint", "parent", "created_by")
    return paginate(attempts.defer("endpoint__credentials", "endpoint__headers"), page, "-number")


@router.get("/cases/{case_id}/attempts/{number}", auth=READ, response=AttemptDetails)
def read_attempt(request: ApiRequest, response: HttpResponse, case_id: Id, number: Id) -> AttemptDetails:
    """An attempt by its number. The ETag can be sent as If-Match when you change it."""
    return _tagged(response, get_attempt(request, case_id, number))


@router.post("/cases/{case_id}/attempts", auth=WRITE, response={201: AttemptDetails})
def create_attempt(request: ApiRequest, case_id: Id, new: NewAttempt) -> Status[Attempt]:
    """Saves an attempt. You must be allowed to use its endpoint in the case."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    visible = Endpoint.objects.visible_to(request.user).select_related("owner")
    endpoint = find(visible, "endpoint_id", "There is no endpoint {} that you may see.", pk=new.endpoint_id)
    parent = find(case.attempts.all(), "parent", "The case has no attempt {}.", number=new.parent)
    content = new.dict(exclude={"endpoint_id", "parent"})
    attempt = runs.attempts.save(case=case, endpoint=endpoint, parent=parent, by=request.user, **content)
    return Status(201, attempt)


@router.patch("/cases/{case_id}/attempts/{number}", auth=WRITE, response=AttemptDetails)
def change_attempt(
    request: ApiRequest,
    response: HttpResponse,
    case_id: Id,
    number: Id,
    changes: AttemptChanges,
    if_match: IfMatch,
) -> AttemptDetails:
    """Names an attempt, notes what it is for, archives or restores it. What it sends cannot be changed: save a new one."""
    with transaction.atomic():
        attempt = get_attempt(request, case_id, number, needs=Role.EDITOR, lock=True)
        check_if_match(if_match, state=AttemptDetails.from_orm(attempt))
        described = changes.dict(include={"name", "note"}, exclude_none=True)
        runs.attempts.describe(attempt=attempt, by=request.user, **described)
        if changes.archived is not None:
            change = runs.attempts.archive if changes.archived else runs.attempts.restore
            change(attempt=attempt, by=request.user)
            attempt.refresh_from_db(fields=["archived_at"])
    return _tagged(response, attempt)


def _tagged(response: HttpResponse, attempt: Attempt) -> AttemptDetails:
    details = AttemptDetails.from_orm(attempt)
    return set_etag(response, details, state=details)
