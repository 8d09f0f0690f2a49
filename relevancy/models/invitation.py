"""Invitations to teams."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

from .team import Role, Team

if TYPE_CHECKING:
    from .user import User

LIFETIME = timedelta(days=14)


def default_expiry() -> datetime:
    """Returns when an invitation that is made now expires."""
    return timezone.now() + LIFETIME


class InvitationQuerySet(models.QuerySet["Invitation"]):
    """Invitations by state and by the person they are for."""

    def pending(self) -> Self:
        """Those that can still be accepted: not answered, not withdrawn, not expired."""
        return self.filter(accepted_at=None, declined_at=None, withdrawn_at=None, expires_at__gt=timezone.now())

    def listed(self) -> Self:
        """Those that the team's page lists: pending ones, and declined ones until they expire or are removed."""
        return self.filter(accepted_at=None, withdrawn_at=None, expires_at__gt=timezone.now())

    def addressed_to(self, user: User) -> Self:
        """Those for the user's e-mail address."""
        return self.exclude(email="").filter(email=user.email.lower())


class Invitation(models.Model):
    """An invitation to join a team in a role: for an e-mail address, or, with an empty `email`, for anyone who has its link.

    A user becomes a member only by accepting it. It can be accepted once, until it expires, is declined or is withdrawn.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField(blank=True, help_text="In lower case. Empty: for anyone who has the link.")
    role = models.PositiveSmallIntegerField(choices=Role, default=Role.RATER)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(default=default_expiry)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    accepted_at = models.DateTimeField(null=True, blank=True)
    declined_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-id")
        constraints = [
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="invitation_role_known"),
            models.CheckConstraint(condition=models.Q(email=Lower("email")), name="invitation_email_lower_case"),
        ]

    def __str__(self) -> str:
        return f"{self.email or 'anyone who has the link'} to {self.team}"

    @property
    def is_pending(self) -> bool:
        """Whether it can still be accepted."""
        is_open = not (self.accepted_at or self.declined_at or self.withdrawn_at)
        return is_open and self.expires_at > timezone.now()
