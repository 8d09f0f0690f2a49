"""What somebody wrote on a case's history."""

from django.conf import settings
from django.db import models

from .case import Case
from .run import Run


class Annotation(models.Model):
    """A note at one run of a case's history: what happened then, outside of the attempts."""

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="annotations")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="annotations")
    text = models.CharField(max_length=500)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("run__number", "id")

    def __str__(self) -> str:
        return self.text[:80]
