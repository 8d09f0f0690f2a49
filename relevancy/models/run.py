"""What one attempt returned."""

from typing import Any, ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from .attempt import Attempt
from .book import Query
from .case import Case


class RunQuerySet(models.QuerySet["Run"]):
    """Runs by state."""

    def under_way(self) -> Self:
        """Waiting or running."""
        return self.filter(status__in=Run.UNDER_WAY)

    def newest_for(self, case: Any) -> Self:
        """The case's runs, newest first."""
        return self.filter(case=case).order_by("-number")


class Run(models.Model):
    """One attempt, asked: with the attempt as it was asked, so that it can be read without the attempt, the endpoint or the engine."""

    class Status(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        COMPLETE = "complete"
        INCOMPLETE = "incomplete"
        CANCELLED = "cancelled"
        FAILED = "failed"

    UNDER_WAY = (Status.WAITING, Status.RUNNING)

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="runs")
    attempt = models.ForeignKey(Attempt, on_delete=models.PROTECT, related_name="runs")
    number = models.PositiveIntegerField()
    status = models.CharField(max_length=12, choices=Status, default=Status.WAITING)
    reason = models.TextField(blank=True, help_text="Why it failed or is incomplete, for a person.")
    asked = models.JSONField(help_text="Engine, address, template, knobs, fields, depth and options as asked.")
    version = models.CharField("engine version", max_length=120, blank=True)
    rows = models.PositiveIntegerField(help_text="Hits fetched: max(depth, largest scorer k).")
    queries = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    cancel_requested = models.BooleanField(default=False)
    claimed_by = models.CharField(max_length=64, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="runs")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    seconds = models.FloatField(default=0, help_text="Time spent searching, pauses between workers left out.")
    pinned_at = models.DateTimeField(null=True, blank=True)
    note = models.CharField(max_length=250, blank=True)
    fields_dropped_at = models.DateTimeField(
        null=True, blank=True, help_text="Since then its hits are ids and engine scores only."
    )

    objects: ClassVar = RunQuerySet.as_manager()

    class Meta:
        ordering = ("case", "-number")
        constraints = [
            models.UniqueConstraint(fields=("case", "number"), name="run_number_once"),
            models.CheckConstraint(
                condition=Q(status__in=["waiting", "running", "complete", "incomplete", "cancelled", "failed"]),
                name="run_status_known",
            ),
        ]
        indexes = [models.Index(fields=("status", "heartbeat_at"), name="run_to_sweep")]

    def __str__(self) -> str:
        return f"Run {self.number}"

    @property
    def under_way(self) -> bool:
        return self.status in self.UNDER_WAY


class Ranking(models.Model):
    """One query's ranked hits within a run, with text and options as asked. A failed search is a ranking with an error.

    `hits` is compact, in rank order: `[[id, engine score or null, {field: value}, {field: highlighted snippet}], …]`, the last part
    only where the engine highlighted something.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="rankings")
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="rankings")
    text = models.CharField(max_length=2048)
    options = models.JSONField(default=dict)
    hits = models.JSONField(default=list)
    returned = models.PositiveIntegerField(default=0)
    total = models.BigIntegerField(null=True)
    took_ms = models.PositiveIntegerField(null=True)
    error_kind = models.CharField(max_length=20, blank=True)
    error = models.TextField(blank=True)
    asked_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = [models.UniqueConstraint(fields=("run", "query"), name="ranking_once_per_run")]
        # Counting failures must not read the rows: SQLite would walk through their hits to get at what stands behind.
        indexes = [models.Index(fields=("run", "error_kind"), name="ranking_failures")]

    def __str__(self) -> str:
        return f"{self.text[:60]} in run {self.run_id}"
