"""Access by role: the same rules for everything that has an owner and is shared with teams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from django.db import models
from django.db.models import Case as CaseExpression
from django.db.models import Expression, IntegerField, OuterRef, Subquery, Value, When
from django.db.models.functions import Coalesce, Greatest

from .team import Membership, Role

if TYPE_CHECKING:
    from .user import User


class SharedQuerySet[M: models.Model](models.QuerySet[M]):
    """Rows with an `owner` and `teams`. `role` is the highest role that a user has on the row, 0 for none."""

    def with_role(self, user: User) -> Self:
        """Annotates `role`: owner for the row's owner and for admins, else the highest role in a team the row is shared with."""
        if user.is_superuser:
            return self.annotate(role=Value(int(Role.OWNER), output_field=IntegerField()))
        role_as_owner = CaseExpression(
            When(owner=user, then=Value(int(Role.OWNER))), default=Value(0), output_field=IntegerField()
        )
        return self.annotate(role=Greatest(role_as_owner, self._role_in_teams(user)))

    def _role_in_teams(self, user: User) -> Expression:
        teams: Any = self.model._meta.get_field("teams")
        through = teams.remote_field.through
        row = f"{self.model._meta.model_name}_id"
        memberships = Membership.objects.filter(
            user=user, team__in=through.objects.filter(**{row: OuterRef(OuterRef("pk"))}).values("team_id")
        )
        highest = memberships.order_by("-role").values("role")[:1]
        return Coalesce(Subquery(highest, output_field=IntegerField()), 0)

    def visible_to(self, user: User) -> Self:
        """Rows that the user may view."""
        return self.with_role(user).filter(role__gte=Role.VIEWER)

    def rateable_by(self, user: User) -> Self:
        """Rows whose documents the user may rate."""
        return self.with_role(user).filter(role__gte=Role.RATER)

    def editable_by(self, user: User) -> Self:
        """Rows that the user may change."""
        return self.with_role(user).filter(role__gte=Role.EDITOR)

    def owned_by(self, user: User) -> Self:
        """Rows that the user may share, archive or hand over."""
        return self.with_role(user).filter(role__gte=Role.OWNER)
