"""The user of the token, and the user's teams."""

from datetime import datetime
from typing import Any

from ninja import Query, Router, Schema
from pydantic import Field

from relevancy.models import ApiToken, Role, Team, User

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
    is_admin: bool = Field(validation_alias="is_superuser")
    token: TokenDetails

    @staticmethod
    def resolve_token(user: User, context: dict[str, Any]) -> ApiToken:
        return context["request"].auth


class TeamDetails(Schema):
    """A team. role: yours; null if you are not a member, which only admins see."""

    id: int
    name: str = Field(examples=["Search"])
    role: str | None = Field(examples=["editor"])

    @staticmethod
    def resolve_role(team: Team) -> str | None:
        return Role(team.role).label if team.role else None


@router.get("/me", auth=READ, response=Me)
def read_me(request: ApiRequest) -> User:
    """You, and your token."""
    return request.user


@router.get("/teams", auth=READ, response=Page[TeamDetails])
def list_teams(request: ApiRequest, page: Query[PageParameters]) -> dict[str, Any]:
    """Your teams; for admins all teams."""
    return paginate(Team.objects.visible_to(request.user).with_role(request.user), page, "id")
