"""The teams that cases and endpoints are shared with."""

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from ninja import Router, Schema, Status
from pydantic import Field

from relevancy import cases, endpoints
from relevancy.models import Case, Endpoint, Role, Team

from .access import Id, check_book_editable, get_case, get_endpoint
from .authentication import READ, WRITE, ApiRequest

router = Router(tags=["Sharing"])


class TeamName(Schema):
    id: int
    name: str = Field(examples=["Search"])


@router.get("/cases/{case_id}/teams", auth=READ, response=list[TeamName])
def list_case_teams(request: ApiRequest, case_id: Id) -> QuerySet[Team]:
    """The teams that a case is shared with. Needs the role owner."""
    return get_case(request, case_id, needs=Role.OWNER).teams.order_by("name")


@router.put("/cases/{case_id}/teams/{team_id}", auth=WRITE, response={204: None})
def share_case(request: ApiRequest, case_id: Id, team_id: Id) -> Status[None]:
    """Shares a case and its book with a team in which you are an editor. Needs the role owner on both. Repeating it changes nothing."""
    case = _get_own_case(request, case_id)
    team = _get_shareable(request, team_id)
    if not case.teams.filter(pk=team.pk).exists():
        cases.share(case=case, team=team, by=request.user)
    return Status(204, None)


@router.delete("/cases/{case_id}/teams/{team_id}", auth=WRITE, response={204: None})
def unshare_case(request: ApiRequest, case_id: Id, team_id: Id) -> Status[None]:
    """Stops sharing a case with a team; the ratings of its members are kept. Repeating it changes nothing."""
    case = _get_own_case(request, case_id)
    if team := _get_removable(request, case, team_id):
        cases.unshare(case=case, team=team, by=request.user)
    return Status(204, None)


@router.get("/endpoints/{endpoint_id}/teams", auth=READ, response=list[TeamName])
def list_endpoint_teams(request: ApiRequest, endpoint_id: Id) -> QuerySet[Team]:
    """The teams that an endpoint is shared with. Needs the role owner."""
    return get_endpoint(request, endpoint_id, needs=Role.OWNER).teams.order_by("name")


@router.put("/endpoints/{endpoint_id}/teams/{team_id}", auth=WRITE, response={204: None})
def share_endpoint(request: ApiRequest, endpoint_id: Id, team_id: Id) -> Status[None]:
    """Shares an endpoint with a team in which you are an editor: its editors may use and change it. Repeating it changes nothing."""
    endpoint = get_endpoint(request, endpoint_id, needs=Role.OWNER)
    team = _get_shareable(request, team_id)
    if not endpoint.teams.filter(pk=team.pk).exists():
        endpoints.share(endpoint=endpoint, team=team, by=request.user)
    return Status(204, None)


@router.delete("/endpoints/{endpoint_id}/teams/{team_id}", auth=WRITE, response={204: None})
def unshare_endpoint(request: ApiRequest, endpoint_id: Id, team_id: Id) -> Status[None]:
    """Stops sharing an endpoint with a team. Runs that its members have started end. Repeating it changes nothing."""
    endpoint = get_endpoint(request, endpoint_id, needs=Role.OWNER)
    if team := _get_removable(request, endpoint, team_id):
        endpoints.unshare(endpoint=endpoint, team=team, by=request.user)
    return Status(204, None)


def _get_own_case(request: ApiRequest, case_id: int) -> Case:
    case = get_case(request, case_id, needs=Role.OWNER)
    check_book_editable(request, case, needs=Role.OWNER, hint="It is shared with the case.")
    return case


def _get_shareable(request: ApiRequest, team_id: int) -> Team:
    """Returns a team that the user may share something with. Raises `Http404`, `PermissionDenied`."""
    team = get_object_or_404(Team.objects.visible_to(request.user), pk=team_id)
    if not Team.objects.shareable_by(request.user).filter(pk=team_id).exists():
        raise PermissionDenied(
            f"You need the role {Role.EDITOR.label} in the team “{team}” to share something with it. "
            "An owner of the team can give it to you."
        )
    return team


def _get_removable(request: ApiRequest, shared: Case | Endpoint, team_id: int) -> Team | None:
    """Returns a team that something is shared with; None if it is not shared with this team. Raises `Http404`, `PermissionDenied`."""
    team: Team | None = shared.teams.filter(pk=team_id).first()
    if team is None:
        get_object_or_404(Team.objects.visible_to(request.user), pk=team_id)
        return None
    if not shared.teams.removable_by(request.user, owner_id=shared.owner_id).filter(pk=team_id).exists():
        raise PermissionDenied(f"Only {shared.owner} and owners of the team “{team}” can stop sharing with it.")
    return team
