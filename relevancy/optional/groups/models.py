"""Groups of cases: several markets or languages with a mean of their own.

See docs/decisions/0126.
"""

from typing import ClassVar

from django.conf import settings
from django.db import models

from relevancy.models import Case, Team
from relevancy.models.access import SharedModel, SharedQuerySet
from relevancy.models.text import LineField


class CaseGroupQuerySet(SharedQuerySet["CaseGroup"]):
    """Groups of cases; `SharedQuerySet` defines access. A role on a group gives no role on its cases."""


class CaseGroup(SharedModel):
    """Cases that are looked at together.

    weighting: what counts the same in the mean of the group: each case, or each query that has a score.
    """

    class Weighting(models.TextChoices):
        CASES = "cases", "each case counts the same"
        QUERIES = "queries", "each scored query counts the same"

    name = LineField(max_length=191)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="case_groups")
    teams = models.ManyToManyField(Team, blank=True, related_name="case_groups")
    cases = models.ManyToManyField(Case, blank=True, related_name="groups")
    weighting = models.CharField(max_length=10, choices=Weighting, default=Weighting.CASES)
    created_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar = CaseGroupQuerySet.as_manager()

    class Meta:
        ordering = ("name", "id")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(weighting__in=["cases", "queries"]), name="case_group_weighting_known"
            )
        ]

    def __str__(self) -> str:
        return self.name

    def weigh(self, scored: int) -> float:
        """Returns the weight of a case in the mean of the group. scored: how many of its queries have a score."""
        return 1.0 if self.weighting == self.Weighting.CASES else float(scored)


class StoredGroupComparison(models.Model):
    """The figures of the newest runs of a group's cases against their baselines, for the cases that one user sees.

    key: of the inputs, so that other inputs have another row. inputs: for each case the id, the revision and the generation of its
    stored comparison, and its weight in the group. figures: a `figures.GroupComparison`; None until they are computed.
    error: why they could not be computed, in a sentence.
    """

    group = models.ForeignKey(CaseGroup, on_delete=models.CASCADE, related_name="comparisons")
    key = models.CharField(max_length=64)
    inputs = models.JSONField()
    figures = models.JSONField(null=True)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    computed_at = models.DateTimeField(null=True)
    queued_at = models.DateTimeField(
        null=True, help_text="When a background task was enqueued that computes the figures."
    )

    class Meta:
        ordering = ("-id",)
        constraints = [models.UniqueConstraint(fields=("group", "key"), name="group_comparison_once_per_input")]

    def __str__(self) -> str:
        return f"Comparison of {self.group}"
