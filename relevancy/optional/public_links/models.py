"""Public links to cases. Only a digest of what a link ends with is stored."""

from typing import ClassVar, Self

from django.conf import settings
from django.db import models
from django.utils import timezone

from relevancy.models import Case


class PublicLinkQuerySet(models.QuerySet["PublicLink"]):
    """Public links by state."""

    def valid(self) -> Self:
        """Links that are neither withdrawn nor expired, made by a user who is not deactivated, to a case that is not archived."""
        return self.filter(
            withdrawn_at=None, expires_at__gt=timezone.now(), created_by__is_active=True, case__archived_at=None
        )


class PublicLink(models.Model):
    """A link with which anyone can see the scores and results of a case, without an account, until it expires or is withdrawn.

    digest: SHA-256 of the token that the link ends with. The token is random, so a slow hash would add nothing.
    """

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="public_links")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar = PublicLinkQuerySet.as_manager()

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"public link to {self.case}"
