"""What signing in needs besides the password, and counters that limit how often a user can try. Shared by all processes."""

from django.conf import settings
from django.db import models
from django.utils import timezone


class RequiredProof(models.Model):
    """A user has to show more than the password, which an optional app checks: see `hooks.Proof`.

    The row is the core's: a site that leaves out the app signs the user in no more, instead of with the password alone.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="required_proof", primary_key=True
    )
    app = models.CharField(max_length=50, editable=False)
    since = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return f"{self.app} of {self.user}"


class SignInCounter(models.Model):
    """Failed sign-ins of one account, address or browser until `expires_at`; then it counts from zero."""

    key = models.CharField(max_length=64, primary_key=True, help_text="SHA-256 of what is counted")
    failures = models.PositiveIntegerField(default=0)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.key[:12]}…: {self.failures}"
