"""Scores of queries and of cases, by run and scorer version."""

from django.db import models

from .book import Query
from .run import Ranking, Run
from .scorer import ScorerVersion


class QueryScore(models.Model):
    """The score of a ranking under a scorer version, from 0 to 100.

    score: None if the query is not scoreable, or could not be scored (`error`).
    run, query: those of the ranking; stored again so that the mean of a case reads one narrow table.
    ideal: the score of the known documents in their best order.
    error_kind: why a script was stopped ("time", "memory", "ended"), or "off" if it was switched off for the rest of the run.
    revision: the query's revision that the score was computed from. A score with an older revision is stale.
    """

    SWITCHED_OFF = "off"

    ranking = models.ForeignKey(Ranking, on_delete=models.CASCADE, related_name="scores")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="query_scores")
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="scores")
    version = models.ForeignKey(ScorerVersion, on_delete=models.PROTECT, related_name="query_scores")
    value = models.FloatField(null=True, help_text="The measure's own value.")
    score = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    ideal = models.FloatField(null=True)
    unrated = models.PositiveIntegerField(default=0)
    error = models.CharField(max_length=500, blank=True, default="", help_text="Why the ranking could not be scored.")
    error_kind = models.CharField(max_length=10, blank=True, default="")
    revision = models.PositiveBigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=("ranking", "version"), name="query_score_once"),
            models.UniqueConstraint(fields=("run", "version", "query"), name="query_score_once_per_run"),
            models.CheckConstraint(
                condition=models.Q(score__isnull=True) | models.Q(score__gte=0, score__lte=100),
                name="query_score_0_to_100",
            ),
        ]

    def __str__(self) -> str:
        return "–" if self.score is None else f"{self.score:.1f}"


class CaseScore(models.Model):
    """The mean score of a run's scoreable queries, one row per day: the history."""

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
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("run", "version", "-day")
        constraints = [models.UniqueConstraint(fields=("run", "version", "day"), name="case_score_once_a_day")]

    def __str__(self) -> str:
        return "–" if self.score is None else f"{self.score:.1f}"
