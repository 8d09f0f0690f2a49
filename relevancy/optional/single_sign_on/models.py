"""Accounts at the site's OpenID Connect provider with which users sign in."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class ExternalAccount(models.Model):
    """An account at a provider (OpenID Connect) that signs a user in.

    issuer, subject: name the account for all time; its e-mail address may change.
    email: as the provider last named it, so that the user recognises the account.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="external_accounts")
    issuer = models.CharField(max_length=500, editable=False)
    subject = models.CharField(max_length=255, editable=False)
    email = models.CharField(max_length=254, blank=True, editable=False)
    connected_at = models.DateTimeField(default=timezone.now, editable=False)
    last_used_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ("connected_at", "id")
        constraints = [models.UniqueConstraint(fields=("issuer", "subject"), name="external_account_once")]

    def __str__(self) -> str:
        return self.email or self.subject
