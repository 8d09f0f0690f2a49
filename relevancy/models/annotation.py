"""Notes on the history of a case."""

from django.conf import settings
from django.db import models

from .case import Case
from .run import Run
from .text import LineField


class Annotation(models.Model):
    """A note at one run of a case's history, about an event outside of the attempts: new documents, a new engine version."""

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="annotations")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="annotations")
    text = LineField(max_length=500)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("run__number", "id")

    def __str__(self) -> str:
        return self.text[:80]
