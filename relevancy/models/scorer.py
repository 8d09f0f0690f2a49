"""What turns grades into scores: a name, and versions that never change."""

from typing import Any, ClassVar, Self

from django.conf import settings
from django.db import models


class ScorerQuerySet(models.QuerySet["Scorer"]):
    """Scorers, communal and personal."""

    def visible_to(self, user: Any) -> Self:
        """Communal ones and the user's own."""
        return self if user.is_superuser else self.filter(models.Q(owner=None) | models.Q(owner=user))

    def live(self) -> Self:
        """Without the retired ones."""
        return self.filter(retired_at=None)


class Scorer(models.Model):
    """A named way to score; communal when nobody owns it."""

    name = models.CharField(max_length=120, unique=True)
    description = models.TextField(blank=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="scorers"
    )
    is_default = models.BooleanField(default=False, help_text="The scorer a new case starts with.")
    created_at = models.DateTimeField(auto_now_add=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar = ScorerQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        constraints = [
            models.UniqueConstraint(
                fields=("is_default",), condition=models.Q(is_default=True), name="scorer_one_default"
            )
        ]

    def __str__(self) -> str:
        return self.name


class ScorerVersion(models.Model):
    """One immutable definition of a scorer: a built-in measure in the field's notation, and the scale it was made for."""

    scorer = models.ForeignKey(Scorer, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    measure = models.CharField(max_length=200, help_text="nDCG(gain='linear')@10")
    scale = models.JSONField(help_text="The grades with labels a new book takes over: [[0, 'Poor'], …]")
    count_unscoreable_as_zero = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("scorer", "-number")
        constraints = [models.UniqueConstraint(fields=("scorer", "number"), name="scorer_version_once")]

    def __str__(self) -> str:
        return f"{self.scorer} v{self.number}"
