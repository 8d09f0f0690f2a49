"""Outcomes of interleaving and A/B tests, for scripts."""

from datetime import datetime
from typing import Any, Literal

from django.shortcuts import get_object_or_404
from ninja import File, Query, Router, Schema, Status
from ninja.files import UploadedFile
from pydantic import Field

from relevancy.api.access import Id, get_case
from relevancy.api.authentication import READ, WRITE, ApiRequest
from relevancy.api.files import DryRun
from relevancy.api.paging import Page, PageParameters, paginate
from relevancy.models import Role, Run

from . import outcomes
from .models import OnlineOutcome
from .sessions_csv import MAX_ON_PAGE, read_outcome

router = Router(tags=["Online outcomes"])


class OutcomeParameters(DryRun):
    """The numbers of the two runs that users saw; `a` is the baseline."""

    a: int = Field(ge=1, le=2**31 - 1, examples=[3])
    b: int = Field(ge=1, le=2**31 - 1, examples=[4])
    name: str = Field("", max_length=120, description="By default that of the file.")


class OutcomeDetails(Schema):
    """What users decided between two runs, by session. effect, low, high: in favour of `b`, as shares of the sessions; p: two-sided.

    id: null with `dry_run`. wins: sessions that preferred the run; in an A/B test, its successful ones of `sessions_a`, `sessions_b`.
    """

    id: int | None = Field(examples=[5])
    name: str = Field(examples=["May"])
    method: str = Field(examples=["interleaving"], description="interleaving or ab")
    a: int = Field(validation_alias="run_a.number", description="Number of the baseline.", examples=[3])
    b: int = Field(validation_alias="run_b.number", examples=[4])
    wins_a: int = Field(examples=[6])
    wins_b: int = Field(examples=[18])
    ties: int = Field(examples=[4])
    sessions_a: int = Field(examples=[0])
    sessions_b: int = Field(examples=[0])
    effect: float | None = Field(validation_alias="result.effect", examples=[0.214])
    low: float | None = Field(validation_alias="result.low", examples=[0.028])
    high: float | None = Field(validation_alias="result.high", examples=[0.345])
    p: float | None = Field(validation_alias="result.p", examples=[0.023])
    winner: Literal["a", "b"] | None = Field(validation_alias="result.winner", examples=["b"])
    remarks: list[str] = Field(examples=[[]])
    created_at: datetime | None


@router.get("/cases/{case_id}/outcomes", auth=READ, response=Page[OutcomeDetails])
def list_outcomes(request: ApiRequest, case_id: Id, page: Query[PageParameters]) -> dict[str, Any]:
    """The outcomes of interleaving and A/B tests of a case, oldest first."""
    case = get_case(request, case_id)
    return paginate(OnlineOutcome.objects.filter(case=case).select_related("run_a", "run_b"), page, "id")


@router.delete("/cases/{case_id}/outcomes/{outcome_id}", auth=WRITE, response={204: None})
def delete_outcome(request: ApiRequest, case_id: Id, outcome_id: Id) -> Status[None]:
    """Deletes an outcome. Its runs stay pinned."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    stored = OnlineOutcome.objects.select_related("run_a", "run_b")
    outcomes.delete_outcome(outcome=get_object_or_404(stored, case=case, pk=outcome_id), by=request.user)
    return Status(204, None)


@router.post("/cases/{case_id}/import/outcome", auth=WRITE, response={200: OutcomeDetails, 201: OutcomeDetails})
def import_outcome(
    request: ApiRequest, case_id: Id, parameters: Query[OutcomeParameters], file: File[UploadedFile]
) -> Status[OnlineOutcome]:
    """Imports an outcome as CSV, counted by session, replacing one of the same runs and kind of test. Pins both runs."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    a, b = (get_object_or_404(Run, case=case, number=number) for number in (parameters.a, parameters.b))
    a.case = b.case = case
    name = parameters.name or (file.name or "outcome")[:120]
    outcome = read_outcome(file, limit=MAX_ON_PAGE, case=case, run_a=a, run_b=b, name=name)
    outcomes.check_outcome(outcome)
    if parameters.dry_run:
        return Status(200, outcome)
    return Status(201, outcomes.store_outcome(outcome=outcome, by=request.user))
