"""Access by role: the same rules for everything that has an owner and is shared with teams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from django.db import models
from django.db.models import Case as CaseExpression
from django.db.models import Expression, F, Func, IntegerField, Value, When
from django.db.models.functions import Greatest

from .team import Membership, Role

if TYPE_CHECKING:
    from .user import User


class SharedModel(models.Model):
    """A row with an `owner` and `teams`.

    role: of the user for whom the row was read by a method of `SharedQuerySet`, which annotates it; 0 for none.
    """

    role: int = 0

    class Meta:
        abstract = True

    @property
    def role_label(self) -> str:
        return str(Role(self.role).label)

    @property
    def is_rateable(self) -> bool:
        return self.role >= Role.RATER

    @property
    def is_editable(self) -> bool:
        return self.role >= Role.EDITOR

    @property
    def is_owned(self) -> bool:
        return self.role >= Role.OWNER


class SharedQuerySet[M: models.Model](models.QuerySet[M]):
    """Rows with an `owner` and `teams`. `role` is the highest role that a user has on the row, 0 for none."""

    def with_role(self, user: User) -> Self:
        """Annotates `role`: owner for the row's owner and for admins, else the highest role in a team the row is shared with."""
        return self.annotate(role=self.role_of(user))

    def role_of(self, user: User, path: str = "") -> Expression:
        """Returns the expression for the role; with a `path`, such as `case__`, for QuerySets of rows that refer to these ones."""
        if user.is_superuser:
            return Value(int(Role.OWNER), output_field=IntegerField())
        role_as_owner = CaseExpression(
            When(**{f"{path}owner": user}, then=Value(int(Role.OWNER))), default=Value(0), output_field=IntegerField()
        )
        return Greatest(role_as_owner, self._role_in_teams(user, path))

    def _role_in_teams(self, user: User, path: str = "") -> Expression:
        teams: Any = self.model._meta.get_field("teams")
        # Written by hand because every request reads a role, and building two nested QuerySets took longer than that.
        return Func(
            Value(user.pk),
            F(f"{path}pk"),
            template=f"COALESCE((SELECT MAX(member.role) FROM {Membership._meta.db_table} member"
            f" JOIN {teams.m2m_db_table()} shared ON shared.team_id = member.team_id"
            " WHERE member.user_id = %(expressions)s), 0)",
            arg_joiner=f" AND shared.{teams.m2m_column_name()} = ",
            output_field=IntegerField(),
        )

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
