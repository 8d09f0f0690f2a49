"""Comparisons of runs whose figures are computed once and kept."""

from typing import ClassVar, Self

from django.db import models
from django.db.models.functions import Coalesce

from .case import Case
from .run import Run
from .score import CaseRevision
from .scorer import ScorerVersion


class StoredComparisonQuerySet(models.QuerySet["StoredComparison"]):
    """Stored comparisons."""

    def with_case_revision(self) -> Self:
        """Annotates `case_revision` and `has_figures`, which `is_current` needs."""
        return self.annotate(
            case_revision=comparison_revision(models.OuterRef(models.OuterRef("pk"))),
            has_figures=models.ExpressionWrapper(models.Q(figures__isnull=False), output_field=models.BooleanField()),
        )

    def of_run(self, run: Run) -> Self:
        """Comparisons that a run is part of."""
        return self.filter(compared_runs__run=run)


class StoredComparison(models.Model):
    """The figures of runs under a scorer version, exact for one revision of their cases; later they are out of date.

    case: of the baseline; the other runs may belong to other cases on the same book.
    key: the ids of the version and of the runs in their order, baseline first, which identify the comparison.
    revision: of the cases of all runs, added up, that the figures belong to; None as long as there are none, or if the results of a
        run have changed.
    generation: incremented whenever the results of one of the runs change, so that no figures of former results are stored.
    figures: as `relevancy.comparison` writes them; None if they were never computed, or removed to save space.
    error: why they could not be computed, in a sentence; empty if they could.
    """

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="comparisons")
    version = models.ForeignKey(ScorerVersion, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=120, unique=True)
    revision = models.PositiveBigIntegerField(null=True)
    generation = models.PositiveBigIntegerField(default=0)
    figures = models.JSONField(null=True)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    computed_at = models.DateTimeField(null=True)
    queued_at = models.DateTimeField(
        null=True, help_text="When a background task was enqueued that computes the figures."
    )

    case_revision: int | None = None  # annotated by `with_case_revision`, as is the next one
    has_figures: bool = False

    objects: ClassVar = StoredComparisonQuerySet.as_manager()

    class Meta:
        ordering = ("-id",)
        indexes = [models.Index(fields=("case", "-computed_at"), name="comparison_newest_of_case")]

    def __str__(self) -> str:
        return f"Comparison {self.key}"

    @property
    def is_current(self) -> bool:
        """Whether there are figures, and nothing they depend on has changed. False unless read by `with_case_revision`."""
        return self.has_figures and self.revision is not None and self.revision == self.case_revision


class ComparedRun(models.Model):
    """A run of a stored comparison. position: 0 for the baseline. p: of the test against the baseline, as last computed."""

    comparison = models.ForeignKey(StoredComparison, on_delete=models.CASCADE, related_name="compared_runs")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="compared_runs")
    position = models.PositiveSmallIntegerField()
    p = models.FloatField(null=True)

    class Meta:
        ordering = ("comparison", "position")
        constraints = [
            models.UniqueConstraint(fields=("comparison", "position"), name="compared_run_once_per_position"),
            models.UniqueConstraint(fields=("comparison", "run"), name="compared_run_once"),
        ]

    def __str__(self) -> str:
        return f"{self.run} in {self.comparison}"


def comparison_revision(comparison: models.expressions.Combinable) -> models.expressions.Combinable:
    """The revisions of the cases of all runs of the comparison that an expression refers to, added up, for queries.

    Revisions only increase, so the sum changes with each of them.
    """
    has_run = ComparedRun.objects.filter(comparison=comparison, run__case=models.OuterRef("case"))
    case_revisions = CaseRevision.objects.filter(models.Exists(has_run)).order_by()
    total = case_revisions.annotate(total=models.Func("revision", function="SUM")).values("total")
    return Coalesce(models.Subquery(total), models.Value(0), output_field=models.PositiveBigIntegerField())
