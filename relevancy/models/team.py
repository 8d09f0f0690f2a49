"""Who shares what."""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models


class Role(models.IntegerChoices):
    """What a member may do; a higher number may all that a lower one may."""

    VIEWER = 1, "viewer"
    RATER = 2, "rater"
    EDITOR = 3, "editor"
    OWNER = 4, "owner"


class TeamQuerySet(models.QuerySet["Team"]):
    """Teams by what a user is in them."""

    def visible_to(self, user: Any) -> "TeamQuerySet":
        """The user's teams; all of them for an admin."""
        return self if user.is_superuser else self.filter(memberships__user=user)

    def editable_by(self, user: Any) -> "TeamQuerySet":
        """Teams whose members the user may change."""
        return self if user.is_superuser else self.filter(memberships__user=user, memberships__role=Role.OWNER)

    def shareable_by(self, user: Any) -> "TeamQuerySet":
        """Teams the user may share a case with: those in which he edits."""
        return self if user.is_superuser else self.filter(memberships__user=user, memberships__role__gte=Role.EDITOR)


class Team(models.Model):
    """People who share cases, books and endpoints."""

    name = models.CharField(max_length=120, unique=True)
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, through="Membership", related_name="teams")
    created_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar = TeamQuerySet.as_manager()

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


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
