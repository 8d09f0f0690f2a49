"""Invitations to teams."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Self

from django.conf import settings
from django.core.signing import Signer
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

from .team import Role, Team

if TYPE_CHECKING:
    from .user import User

SIGNER = Signer(salt="relevancy.invitation")
LIFETIME = timedelta(days=14)
MAX_USES = 100


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

    def waiting_for(self, user: User) -> Self:
        """Those that can be accepted, for the user's e-mail address, if the address is known to be the user's."""
        if not user.has_confirmed_email:
            return self.none()
        return self.pending().filter(email=user.email.lower()).select_related("team", "created_by")


class Invitation(models.Model):
    """An invitation to join a team in a role: for an e-mail address, or, with an empty `email`, for anyone who has its link.

    A user becomes a member only by accepting it. It can be accepted `max_uses` times, until it expires, is declined or is
    withdrawn.

    accepted_at, accepted_by: when it was accepted for the last time, after which it is used up, and by whom.
    sign_ups: how many accounts were requested with its link.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField(blank=True, help_text="In lower case. Empty: for anyone who has the link.")
    role = models.PositiveSmallIntegerField(choices=Role, default=Role.RATER)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(default=default_expiry)
    max_uses = models.PositiveSmallIntegerField(
        default=1, validators=[MinValueValidator(1), MaxValueValidator(MAX_USES)]
    )
    uses = models.PositiveSmallIntegerField(default=0, editable=False)
    sign_ups = models.PositiveSmallIntegerField(default=0, editable=False)
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
            models.CheckConstraint(
                condition=models.Q(max_uses=1) | models.Q(email=""), name="invitation_of_an_address_is_used_once"
            ),
            models.CheckConstraint(
                condition=models.Q(uses__lte=models.F("max_uses")), name="invitation_uses_at_most_max_uses"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.email or 'anyone who has the link'} to {self.team}"

    @property
    def token(self) -> str:
        """What its link ends with."""
        return SIGNER.sign(str(self.pk))

    @property
    def is_pending(self) -> bool:
        """Whether it can still be accepted."""
        is_open = not (self.accepted_at or self.declined_at or self.withdrawn_at)
        return is_open and self.expires_at > timezone.now()
