"""Counters that limit how often a user can try to sign in. Shared by all processes."""

from django.db import models


class SignInCounter(models.Model):
    """Failed sign-ins of one account, address or browser until `expires_at`; then it counts from zero."""

    key = models.CharField(max_length=64, primary_key=True, help_text="SHA-256 of what is counted")
    failures = models.PositiveIntegerField(default=0)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.key[:12]}…: {self.failures}"
