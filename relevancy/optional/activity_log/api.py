"""The activity logs of cases and teams."""

from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal

from ninja import Query, Router, Schema
from pydantic import Field

from relevancy.activity import KINDS
from relevancy.api.access import Id, get_case
from relevancy.api.authentication import READ, ApiRequest
from relevancy.api.paging import Page, PageParameters
from relevancy.hooks import case_activity_kinds, team_activity_kinds
from relevancy.models import Case, Role, Team
from relevancy.views.permissions import get_or_403

from .entries import EntryFilter, Log

router = Router(tags=["Activity"])

if TYPE_CHECKING:
    EntryKind = str
else:
    EntryKind = Literal["", *KINDS, *case_activity_kinds, *team_activity_kinds]


class ActivityDetails(Schema):
    """One entry of a log. by: the name of who did it, as it is now. object_id: of what was changed; null if it has none.

    Ratings have one entry for each person and day (UTC), with the action "rating.given".
    """

    at: datetime
    by: str = Field(validation_alias="person", examples=["Ann Editor"])
    by_id: int | None = Field(validation_alias="person_id", description="null for the server")
    kind: str = Field(examples=["run"])
    action: str = Field(examples=["run.started"])
    subject: str = Field(examples=["run 5"])
    object_id: int | None
    text: str = Field(examples=["Started run 5 with 24 queries"])


class ActivityParameters(PageParameters):
    person: int | None = Field(None, ge=0, le=2**63 - 1, description="The id of a user; 0 for the server.")
    kind: EntryKind = Field("", description="Only entries of this kind.")
    since: date | None = Field(None, description="The first day, in the time zone of the server.")
    until: date | None = Field(None, description="The last day.")


@router.get("/cases/{case_id}/activity", auth=READ, response=Page[ActivityDetails])
def list_case_activity(request: ApiRequest, case_id: Id, page: Query[ActivityParameters]) -> dict[str, Any]:
    """What was done in a case, newest first."""
    return _list(get_case(request, case_id), page)


@router.get("/teams/{team_id}/activity", auth=READ, response=Page[ActivityDetails])
def list_team_activity(request: ApiRequest, team_id: Id, page: Query[ActivityParameters]) -> dict[str, Any]:
    """What was done in a team, newest first."""
    team: Team = get_or_403(Team.objects, request.user, team_id, needs=Role.VIEWER)
    return _list(team, page)


def _list(owner: Case | Team, page: ActivityParameters) -> dict[str, Any]:
    wanted = EntryFilter(page.person, page.kind, page.since, page.until)
    entries, cursor = Log(owner).page(wanted, cursor=page.cursor, limit=page.limit)
    return {"items": entries, "next": cursor or None}
