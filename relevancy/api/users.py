"""The user of the token, and the user's teams."""

from datetime import datetime
from typing import Any

from ninja import Query, Router, Schema
from pydantic import Field

from relevancy.models import Membership, Role, Team

from .authentication import READ, ApiRequest
from .paging import Page, PageParameters, paginate

router = Router(tags=["Users"])


class TokenDetails(Schema):
    """The token of the request."""

    name: str
    prefix: str = Field(examples=["0a1b2c3d"])
    scope: str = Field(examples=["rate"], description="read, rate or write")
    expires_at: datetime | None


class Me(Schema):
    """The user in whose name the token acts."""

    id: int
    email: str = Field(examples=["ann@example.org"])
    name: str
    is_admin: bool
    token: TokenDetails


class TeamDetails(Schema):
    """A team. role: yours; null if you are not a member, which only admins see."""

    id: int
    name: str = Field(examples=["Search"])
    role: str | None = Field(examples=["editor"])


@router.get("/me", auth=READ, response=Me)
def read_me(request: ApiRequest) -> dict[str, Any]:
    """You, and your token."""
    user, token = request.user, request.auth
    details = {"name": token.name, "prefix": token.prefix, "scope": token.scope, "expires_at": token.expires_at}
    return {
        "id": user.pk,
        "email": user.email,
        "name": user.name,
        "is_admin": user.is_superuser,
        "token": details,
    }


@router.get("/teams", auth=READ, response=Page[TeamDetails])
def list_teams(request: ApiRequest, page: Query[PageParameters]) -> dict[str, Any]:
    """Your teams; for admins all teams."""
    listed = paginate(Team.objects.visible_to(request.user), page, "id")
    roles = dict(Membership.objects.filter(user=request.user).values_list("team_id", "role"))
    items = [
        {"id": row.pk, "name": row.name, "role": Role(roles[row.pk]).label if row.pk in roles else None}
        for row in listed["items"]
    ]
    return {**listed, "items": items}
