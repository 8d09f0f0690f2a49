"""Tokens that programs sign in with. Only a digest of a token is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from .text import LineField

if TYPE_CHECKING:
    from .user import User


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    """Tokens by state and by user."""

    def valid(self) -> Self:
        """Tokens that are accepted: neither revoked nor expired, of a user who is not deactivated."""
        is_current = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
        return self.filter(is_current, revoked_at=None, user__is_active=True)

    def revocable_by(self, user: User) -> Self:
        """The user's own tokens; for an admin all tokens."""
        return self if user.is_superuser else self.filter(user=user)


class ApiToken(models.Model):
    """A token of one user. A program that sends it acts as that user, as far as `scope` allows.

    prefix: the part of the token by which it is found. It is displayed, and worth nothing alone.
    digest: SHA-256 of the whole token. The token is random, so a slow hash would add nothing.
    last_used_at: exact to ten minutes, so that reading does not write.
    """

    class Scope(models.TextChoices):
        """What a token may be used for. Each scope includes those before it."""

        READ = "read", "read"
        RATE = "rate", "read and rate"
        WRITE = "write", "read, rate and change"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = LineField(max_length=120, help_text="What the token is for, such as “nightly job”.")
    prefix = models.CharField(max_length=12, unique=True, editable=False)
    digest = models.CharField(max_length=64, editable=False)
    scope = models.CharField(max_length=10, choices=Scope, default=Scope.READ)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects: ClassVar = ApiTokenQuerySet.as_manager()

    class Meta:
        verbose_name = "API token"
        ordering = ("-id",)
        constraints = [
            models.CheckConstraint(condition=Q(scope__in=["read", "rate", "write"]), name="api_token_scope_known")
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    def allows(self, scope: ApiToken.Scope) -> bool:
        """Whether the token may be used for something that requires `scope`."""
        scopes = list(ApiToken.Scope)
        return scopes.index(ApiToken.Scope(self.scope)) >= scopes.index(scope)
