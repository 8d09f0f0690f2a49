"""The second factor of signing in: an app that shows codes, and codes for when the app is lost."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from relevancy.models import EncryptedJSONField


class Authenticator(models.Model):
    """An app that shows one-time codes (TOTP, RFC 6238) for an account.

    It is asked for once the user has shown that the app works: from then on there is a `RequiredProof`.

    secret: `{"key": base32 text}`.
    last_step: the time step of the last code that was accepted: no code is accepted twice.
    """

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="authenticator")
    secret = EncryptedJSONField(editable=False)
    last_step = models.PositiveBigIntegerField(default=0, editable=False)

    def __str__(self) -> str:
        return f"Authenticator of {self.user}"


class RecoveryCode(models.Model):
    """A code that replaces one of the app, once. It is random, so a slow hash of it would add nothing.

    digest: SHA-256 of the code.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="recovery_codes")
    digest = models.CharField(max_length=64, editable=False)
    used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ("id",)
        constraints = [models.UniqueConstraint(fields=("user", "digest"), name="recovery_code_once")]

    def __str__(self) -> str:
        return f"Recovery code of {self.user}"
