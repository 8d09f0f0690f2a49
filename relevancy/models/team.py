"""Teams and roles."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.functions import Lower

from .text import NAME_TAKEN, LineField, is_storable

if TYPE_CHECKING:
    from .user import User


class Role(models.IntegerChoices):
    """The role of a member. A higher role includes the permissions of the lower ones."""

    VIEWER = 1, "viewer"
    RATER = 2, "rater"
    EDITOR = 3, "editor"
    OWNER = 4, "owner"


class TeamQuerySet(models.QuerySet["Team"]):
    """Teams by the role of a user."""

    def visible_to(self, user: User) -> Self:
        """The user's teams; for an admin all teams."""
        return self if user.is_superuser else self.filter(memberships__user=user)

    def with_role(self, user: User) -> Self:
        """Annotates `role`, that of the user; None for an admin who is not a member."""
        own = Membership.objects.filter(team=models.OuterRef("pk"), user=user)
        return self.annotate(role=models.Subquery(own.values("role")))

    def owned_by(self, user: User) -> Self:
        """Teams whose members the user may manage."""
        return self if user.is_superuser else self.filter(memberships__user=user, memberships__role=Role.OWNER)

    def shareable_by(self, user: User) -> Self:
        """Teams that the user may share a case with: those in which the user is an editor or owner."""
        return self if user.is_superuser else self.filter(memberships__user=user, memberships__role__gte=Role.EDITOR)

    def removable_by(self, user: User, *, owner_id: int | None) -> Self:
        """Of the teams that something is shared with, those that the user may stop sharing it with, as an owner of it.

        Who owns it may do so for every team; owners by a team only for teams whose members they manage.
        """
        return self if user.pk == owner_id else self.owned_by(user)


class Team(models.Model):
    """People who share cases, books and endpoints.

    role: of the user for whom the team was read by `with_role`.
    """

    role: int | None = None

    name = LineField(max_length=120, unique=True)
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, through="Membership", related_name="teams")
    can_create_endpoints = models.BooleanField(
        default=False,
        help_text="Editors and owners of the team may enter addresses of search engines, which this server then sends "
        "requests to.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar = TeamQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        constraints = [models.UniqueConstraint(Lower("name"), name="team_name_any_case")]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Rejects a name that differs from another one in case only."""
        same_name = Team.objects.filter(name__iexact=self.name).exclude(pk=self.pk)
        if is_storable(self.name) and same_name.exists():
            raise ValidationError({"name": ValidationError(NAME_TAKEN, code="unique")})


class Membership(models.Model):
    """One user's role in one team."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.PositiveSmallIntegerField(choices=Role, default=Role.RATER)

    class Meta:
        ordering = ("-role", "user__name", "user__email")
        constraints = [
            models.UniqueConstraint(fields=("team", "user"), name="membership_once"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} is {self.get_role_display()} in {self.team}"
