"""Groups of cases: their mean, its history, and the newest runs against their baselines."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpResponse
from ninja import Query, Router, Schema, Status
from pydantic import ConfigDict, Field

from relevancy.api.access import Id, ObjectId, get_case, lockable
from relevancy.api.authentication import READ, WRITE, ApiRequest
from relevancy.api.inputs import Input
from relevancy.api.paging import Page, PageParameters, paginate
from relevancy.api.preconditions import IfMatch, check_if_match, set_etag
from relevancy.cases import CaseRow
from relevancy.models import Role, Team
from relevancy.views.permissions import get_or_403

from . import figures, groups
from .models import CaseGroup
from .tasks import enqueue_group_figures

MAX_TEAMS = 200  # in one request
router = Router(tags=["Groups"])

TeamIds = Annotated[
    list[ObjectId],
    Field(max_length=MAX_TEAMS, examples=[[1]], description="Teams that the group is shared with."),
]
Weighting = Literal["cases", "queries"]


class GroupSummary(Schema):
    """A group. weighting: what counts the same in its mean, which is cases or queries."""

    model_config = ConfigDict(populate_by_name=True)

    id: int
    name: str = Field(examples=["Markets"])
    role: str = Field(validation_alias="role_label", examples=["editor"])
    weighting: str = Field(examples=["cases"])
    created_at: datetime


class GroupCase(Schema):
    """A case of a group that you may see, with the score of its newest scored run. weight: in the mean; 0 without a score."""

    id: int
    name: str
    run_id: int | None
    score: float | None
    scored: int
    queries: int
    weight: float


class GroupFigures(Schema):
    """The newest runs against their baselines, of a case or of all cases together, where p_holm is null.

    independent: what tests count: linked queries are one, and so is a query of several cases.
    """

    queries: int
    independent: int
    difference: float | None
    interval: list[float] | None
    reliable: bool
    p: float | None
    p_holm: float | None
    verdict: str

    @staticmethod
    def resolve_interval(compared: figures.GroupFigures) -> list[float] | None:
        return [compared.interval.low, compared.interval.high] if compared.interval else None

    @staticmethod
    def resolve_reliable(compared: figures.GroupFigures) -> bool:
        return bool(compared.interval and compared.interval.is_reliable)


class ComparedCase(Schema):
    """The newest run of a case against its baseline. figures: null without two runs to compare, and if they cannot be compared."""

    case_id: int = Field(validation_alias="row.case.pk")
    run_id: int | None
    baseline_id: int | None
    error: str
    figures: GroupFigures | None

    @staticmethod
    def resolve_run_id(compared: groups.ComparedCase) -> int | None:
        return compared.row.scored_run.pk if compared.baseline and compared.row.scored_run else None

    @staticmethod
    def resolve_baseline_id(compared: groups.ComparedCase) -> int | None:
        return compared.baseline.pk if compared.baseline else None


class GroupComparison(Schema):
    """status: current, computing or failed. While figures are computed, all of them are null. together: null if there is no mean."""

    status: str = Field(examples=["current"])
    sentence: str
    together: GroupFigures | None
    cases: list[ComparedCase]

    @staticmethod
    def resolve_status(compared: groups.ComparedGroup) -> str:
        return "computing" if compared.is_pending else "failed" if compared.error else "current"

    @staticmethod
    def resolve_together(compared: groups.ComparedGroup) -> figures.GroupFigures | None:
        return compared.figures.together if compared.figures else None


class GroupDetails(GroupSummary):
    """A group with the cases of it that you may see. reason: why there is no mean; empty if there is one."""

    mean: float | None
    reason: str
    cases: list[GroupCase]
    comparison: GroupComparison


class NewGroup(Input):
    """A group without cases, which is yours."""

    name: str = Field(min_length=1, max_length=191, examples=["Markets"])
    weighting: Weighting = Field("cases", description="What counts the same in the mean.")
    team_ids: TeamIds = Field(default_factory=list)


class GroupChanges(Input):
    """What to change. Fields that are left out or null stay as they are. team_ids: for owners; teams that you do not see stay."""

    name: str | None = Field(None, min_length=1, max_length=191, examples=["Markets"])
    weighting: Weighting | None = None
    team_ids: TeamIds | None = None


class GroupHistoryPoint(Schema):
    """The mean after a run. scores: of the cases in the order of the group, the newest of each at that time."""

    run_id: int = Field(validation_alias="run.pk")
    case_id: int = Field(validation_alias="run.case_id")
    at: datetime
    mean: float | None = Field(validation_alias="score")
    scores: list[float | None] = Field(validation_alias="by_case")


def get_group(request: ApiRequest, group_id: int, *, needs: Role = Role.VIEWER, lock: bool = False) -> CaseGroup:
    """Returns a group of cases. Raises `Http404`, `PermissionDenied`."""
    rows = lockable(CaseGroup.objects.select_related("owner"), lock=lock)
    return get_or_403(rows, request.user, group_id, needs=needs)


@router.get("/groups", auth=READ, response=Page[GroupSummary])
def list_groups(request: ApiRequest, page: Query[PageParameters]) -> dict[str, Any]:
    """The groups of cases that you may see, oldest first."""
    return paginate(CaseGroup.objects.visible_to(request.user), page, "id")


@router.get("/groups/{group_id}", auth=READ, response=GroupDetails)
def read_group(request: ApiRequest, response: HttpResponse, group_id: Id) -> GroupDetails:
    """A group: the mean of its cases, and the verdict on their newest runs, of the cases that you may see.

    The ETag can be sent as If-Match when you change or delete it; new scores and cases do not count as a change.
    """
    group = get_group(request, group_id)
    view = groups.read_group(group=group, by=request.user)
    compared = groups.compare_group(group=group, view=view)
    enqueue_group_figures(compared)
    content = {
        **GroupSummary.from_orm(group).dict(),
        "mean": view.mean.score,
        "reason": view.mean.reason,
        "cases": [_case(row, weight) for row, weight in zip(view.rows, view.mean.weights, strict=True)],
        "comparison": compared,
    }
    return set_etag(response, GroupDetails.from_orm(content), state=_state(group))


@router.post("/groups", auth=WRITE, response={201: GroupSummary})
def create_group(request: ApiRequest, new: NewGroup) -> Status[CaseGroup]:
    """Creates a group. Add its cases afterwards."""
    teams = _find_teams(request, new.team_ids)
    created = groups.create(name=new.name, weighting=new.weighting, teams=teams, by=request.user)
    return Status(201, get_group(request, created.pk))


@router.patch("/groups/{group_id}", auth=WRITE, response=GroupSummary)
def change_group(
    request: ApiRequest, response: HttpResponse, group_id: Id, changes: GroupChanges, if_match: IfMatch
) -> GroupSummary:
    """Changes the name of a group, what counts the same in its mean and, for owners, its teams."""
    needs = Role.EDITOR if changes.team_ids is None else Role.OWNER
    with transaction.atomic():
        group = get_group(request, group_id, needs=needs, lock=True)
        check_if_match(if_match, state=_state(group))
        teams = None if changes.team_ids is None else _find_teams(request, changes.team_ids)
        groups.change(
            group=group,
            name=group.name if changes.name is None else changes.name,
            weighting=changes.weighting or group.weighting,
        )
        if teams is not None:
            groups.set_teams(group=group, teams=teams, by=request.user)
    return set_etag(response, GroupSummary.from_orm(group), state=_state(group))


@router.delete("/groups/{group_id}", auth=WRITE, response={204: None})
def delete_group(request: ApiRequest, group_id: Id, if_match: IfMatch) -> Status[None]:
    """Deletes a group. Its cases stay. Needs the role owner."""
    with transaction.atomic():
        group = get_group(request, group_id, needs=Role.OWNER, lock=True)
        check_if_match(if_match, state=_state(group))
        groups.delete(group=group, by=request.user)
    return Status(204, None)


@router.put("/groups/{group_id}/cases/{case_id}", auth=WRITE, response={204: None})
def add_case_to_group(request: ApiRequest, group_id: Id, case_id: Id) -> Status[None]:
    """Adds a case that you may see. Repeating it changes nothing."""
    group, case = get_group(request, group_id, needs=Role.EDITOR), get_case(request, case_id)
    if case.archived_at is not None:
        raise ValidationError(f"The case {case} has been archived. Restore it or choose another one.")
    groups.add_case(group=group, case=case)
    return Status(204, None)


@router.delete("/groups/{group_id}/cases/{case_id}", auth=WRITE, response={204: None})
def remove_case_from_group(request: ApiRequest, group_id: Id, case_id: Id) -> Status[None]:
    """Removes a case from a group. Nothing happens to the case. Repeating it changes nothing."""
    group, case = get_group(request, group_id, needs=Role.EDITOR), get_case(request, case_id)
    groups.remove_case(group=group, case_id=case.pk)
    return Status(204, None)


@router.get("/groups/{group_id}/history", auth=READ, response=list[GroupHistoryPoint])
def read_group_history(request: ApiRequest, group_id: Id) -> list[groups.GroupPoint]:
    """The mean after each of the newest 60 runs, oldest first. It begins when every case has a score under the same scorer."""
    group = get_group(request, group_id)
    view = groups.read_group(group=group, by=request.user)
    return groups.history_of(view.rows, group)


def _state(group: CaseGroup) -> object:
    """Returns what `change_group` changes."""
    return [group.name, group.weighting, sorted(group.teams.values_list("pk", flat=True))]


def _find_teams(request: ApiRequest, team_ids: list[int]) -> list[Team]:
    """Returns teams that the user may share something with. Raises `ValidationError`."""
    teams = list(Team.objects.shareable_by(request.user).filter(pk__in=team_ids))
    if unknown := sorted(set(team_ids) - {team.pk for team in teams}):
        raise ValidationError({"team_ids": f"There is no team {unknown[0]} that you may share a group with."})
    return teams


def _case(row: CaseRow, weight: float) -> dict[str, Any]:
    """Returns a case with its score; one that is being computed from newer ratings is None."""
    score = row.score if weight else None
    return {
        "id": row.case.pk,
        "name": row.case.name,
        "run_id": row.scored_run.pk if row.scored_run else None,
        "score": score.score if score else None,
        "scored": score.scored if score else 0,
        "queries": score.queries if score else 0,
        "weight": weight,
    }
