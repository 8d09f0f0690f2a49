"""Scores of queries and of cases, by run and scorer version."""

from datetime import datetime
from typing import ClassVar, Self

from django.db import models
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce

from .book import Query
from .case import Case
from .run import Run
from .scorer import ScorerVersion


class QueryScore(models.Model):
    """The score of a ranking under a scorer version, from 0 to 100.

    score: None if the query is not scoreable, or could not be scored (`error`).
    run, query: those of the ranking, which has a row of its own, so that the mean of a case reads one narrow table.
    ideal: the score of the known documents in their best order.
    error_kind: why a script was stopped ("time", "memory", "ended"), or "off" if it was switched off for the rest of the run.
    revision: the query's revision that the score was computed from. A score with an older revision is stale.
    ranking_id: of the ranking that a new score was computed from; None if that is not stored yet. Not stored.
    """

    SWITCHED_OFF = "off"

    ranking_id: int | None = None

    pk = models.CompositePrimaryKey("query", "run", "version")
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="scores", db_index=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="query_scores", db_index=False)
    # The index of gaps leads from a run and a version to its scores, and nothing asks for those of all runs.
    version = models.ForeignKey(ScorerVersion, on_delete=models.PROTECT, related_name="query_scores", db_index=False)
    value = models.FloatField(null=True, help_text="The measure's own value.")
    score = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    ideal = models.FloatField(null=True)
    unrated = models.PositiveSmallIntegerField(default=0)
    error = models.CharField(max_length=500, blank=True, default="", help_text="Why the ranking could not be scored.")
    error_kind = models.CharField(max_length=10, blank=True, default="")
    revision = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(score__isnull=True) | models.Q(score__gte=0, score__lte=100),
                name="query_score_0_to_100",
            ),
        ]
        indexes = [
            models.Index(
                "run", "version", Coalesce("ideal", models.Value(100.0)) - models.F("score"), name="query_score_gap"
            )
        ]

    def __str__(self) -> str:
        return "–" if self.score is None else f"{self.score:.1f}"


class CaseRevision(models.Model):
    """Counts the changes that the scores of a case depend on: to ratings of its queries, to their weights, and to which queries it has.

    A row of its own, because every rating locks it: after the queries, and before the runs. A case without a row has revision 0.
    """

    case = models.OneToOneField(Case, on_delete=models.CASCADE, primary_key=True, related_name="score_revision")
    revision = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"Revision {self.revision} of {self.case}"


class CaseScoreQuerySet(models.QuerySet["CaseScore"]):
    """Scores of cases."""

    def newest(self) -> Self:
        """The newest score of each run under each version."""
        same = {"run": models.OuterRef("run"), "version": models.OuterRef("version")}
        return self.exclude(models.Exists(CaseScore.objects.filter(**same, day__gt=models.OuterRef("day"))))

    def with_case_revision(self, case: Case | None = None) -> Self:
        """Annotates `case_revision`, which `is_current` needs. `case`: if all of the scores are its own, which saves a join."""
        if case is None:
            return self.annotate(case_revision=case_revision(models.OuterRef("run__case")))
        revision = f"SELECT revision FROM {CaseRevision._meta.db_table} WHERE case_id = %s"
        return self.annotate(case_revision=RawSQL(f"COALESCE(({revision}), 0)", [case.pk]))

    def with_former(self) -> Self:
        """Annotates the newest scores of runs with `former_score` and `former_at`: the oldest known score of the same results under the
        same version, and its time. None where none is known."""
        was_first = models.Q(first_score__isnull=False)
        was_last_of_day = models.Q(score__isnull=False, revision__isnull=False, day__lt=models.OuterRef("day"))
        rows = CaseScore.objects.filter(
            was_first | was_last_of_day, run=models.OuterRef("run"), version=models.OuterRef("version")
        ).order_by("day")
        score = models.Case(models.When(was_first, then="first_score"), default="score")
        at = models.Case(models.When(was_first, then="created_at"), default="updated_at")
        return self.annotate(
            former_score=models.Subquery(rows.values(known=score)[:1]),
            former_at=models.Subquery(rows.values(known_at=at)[:1]),
        )


class CaseScore(models.Model):
    """The mean score of a run's scoreable queries, one row per day: the last one of the day.

    revision: the revision of the case that it was computed from; None if a score of a query was stale or missing then.
    first_score: the first one of the day, computed at `created_at`; None if a score of a query was stale or missing then, or of other
        results of the run.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="case_scores")
    version = models.ForeignKey(ScorerVersion, on_delete=models.PROTECT, related_name="case_scores")
    day = models.DateField()
    score = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    scored = models.PositiveIntegerField(default=0)
    queries = models.PositiveIntegerField(default=0)
    unrated = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0, help_text="Queries that could not be scored.")
    revision = models.PositiveBigIntegerField(null=True)
    first_score = models.FloatField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    case_revision: int | None = None  # annotated by `with_case_revision`
    former_score: float | None = None  # annotated by `with_former`, as the next one
    former_at: datetime | None = None

    objects: ClassVar = CaseScoreQuerySet.as_manager()

    class Meta:
        ordering = ("run", "version", "-day")
        constraints = [models.UniqueConstraint(fields=("run", "version", "day"), name="case_score_once_a_day")]

    def __str__(self) -> str:
        return "–" if self.score is None else f"{self.score:.1f}"

    @property
    def is_current(self) -> bool:
        """Whether nothing that the score depends on has changed since. False unless read by `with_case_revision`."""
        return self.revision is not None and self.revision == self.case_revision


class RunComparison(models.Model):
    """The difference between two runs of a case under a scorer version, over the queries scored in both. Exact for one revision of
    the case; later it is out of date.

    run_score, baseline_score: weighted means over the queries scored in both; None if there are none.
    compared: the number of these queries; better, worse: how many of them changed by at least 0.05 points.
    newly_scored, no_longer_scored: the numbers of queries that only `run` or only `baseline` has a score for.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="comparisons")
    baseline = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    version = models.ForeignKey(ScorerVersion, on_delete=models.CASCADE, related_name="+")
    revision = models.PositiveBigIntegerField()
    run_score = models.FloatField(null=True)
    baseline_score = models.FloatField(null=True)
    compared = models.PositiveIntegerField()
    better = models.PositiveIntegerField()
    worse = models.PositiveIntegerField()
    newly_scored = models.PositiveIntegerField()
    no_longer_scored = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=("run", "version", "baseline"), name="run_comparison_once")]

    def __str__(self) -> str:
        return f"{self.run} against {self.baseline}"


def case_revision(case: models.expressions.Combinable) -> models.expressions.Combinable:
    """The revision of the case that an expression refers to, for queries."""
    revisions = CaseRevision.objects.filter(case=case).values("revision")[:1]
    return Coalesce(models.Subquery(revisions), models.Value(0), output_field=models.PositiveBigIntegerField())
