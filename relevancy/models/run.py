"""Runs of attempts."""

from datetime import datetime
from typing import ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.expressions import RawSQL

from .attempt import Attempt
from .case import LARGE_CASE, Case
from .text import LineField


class RunQuerySet(models.QuerySet["Run"]):
    """Runs, by state and by case."""

    def active(self) -> Self:
        """Waiting or running."""
        return self.filter(status__in=Run.ACTIVE_STATUSES)

    def finished(self) -> Self:
        """Neither waiting nor running, with at least one search."""
        return self.exclude(status__in=Run.ACTIVE_STATUSES).filter(done__gt=0)

    def complete_before(self, run: "Run") -> Self:
        """The complete runs of the same case before a run, newest first. The first one is what the run is compared with."""
        return self.filter(case=run.case_id, status=Run.Status.COMPLETE, number__lt=run.number).order_by("-number")

    def newest_for(self, case: Case | int) -> Self:
        """The case's runs, newest first."""
        return self.filter(case=case).order_by("-number")

    def newest_and_named(self, case: int, number: int) -> Self:
        """The case's newest run, its last two complete ones, the one with this number, and the last complete one before it, newest
        first."""
        return self.filter(pk__in=RawSQL(_NEWEST_AND_NAMED, [case, case, case, number, case, number])).order_by(
            "-number"
        )

    def with_details(self) -> Self:
        """Selects attempt, endpoint, case, book and author as well; the endpoint's secrets stay in the database."""
        runs = self.select_related("attempt__endpoint", "case__book", "created_by")
        return runs.defer("attempt__endpoint__credentials", "attempt__endpoint__headers")


class Run(models.Model):
    """All queries of a case, searched with one attempt. `config` is a snapshot of the attempt: the run can be read without it."""

    class Status(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        COMPLETE = "complete"
        INCOMPLETE = "incomplete"
        CANCELLED = "cancelled"
        FAILED = "failed"

    ACTIVE_STATUSES = (Status.WAITING, Status.RUNNING)

    id = models.AutoField(primary_key=True)  # four bytes in each ranking and score
    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="runs")
    attempt = models.ForeignKey(Attempt, on_delete=models.PROTECT, related_name="runs")
    number = models.PositiveIntegerField()
    status = models.CharField(max_length=12, choices=Status, default=Status.WAITING)
    reason = models.TextField(blank=True, help_text="Why the run failed or is incomplete; shown to users.")
    config = models.JSONField(
        help_text="Engine, address, template, knobs, fields, depth and options at the start of the run."
    )
    version = models.CharField("engine version", max_length=120, blank=True)
    rows = models.PositiveIntegerField(
        help_text="Hits fetched per query: the depth, or the largest cutoff of a scorer."
    )
    queries = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    done_before = models.PositiveIntegerField(
        default=0, help_text="How many of the done ones had been searched before the run was last started or completed."
    )
    cancel_requested = models.BooleanField(
        default=False, help_text="Its workers stop: a user has stopped the run, or it fails for the reason given."
    )
    queued_at = models.DateTimeField(
        null=True, editable=False, help_text="When a background task was enqueued that searches a part of the run."
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="runs")
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        editable=False,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Who last started or completed the run, and must be allowed to use its endpoint as long as it is searched. "
        "Empty: a command of an administrator, which may use any.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    seconds = models.FloatField(
        default=0,
        help_text="From the first search to the last, once the run has ended; summed up if it was completed later.",
    )
    pinned_at = models.DateTimeField(null=True, blank=True)
    name = LineField(max_length=120, blank=True)
    note = LineField(max_length=250, blank=True)
    fields_dropped_at = models.DateTimeField(
        null=True, blank=True, help_text="When the displayed fields of its hits were removed."
    )
    rescore_queued_at = models.DateTimeField(
        null=True, editable=False, help_text="When a background task was enqueued that rescores the run."
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

    def __str__(self) -> str:
        return f"Run {self.number}"

    @property
    def is_active(self) -> bool:
        return self.status in self.ACTIVE_STATUSES

    @property
    def is_large(self) -> bool:
        """Whether it has more queries than a page may read all of."""
        return self.queries > LARGE_CASE

    @property
    def label(self) -> str:
        """The number, and the name if there is one: `Run 12, phrase boost`."""
        return f"{self}, {self.name}" if self.name else str(self)

    def per_second(self, now: datetime) -> float | None:
        """Returns how many queries a second an active run has searched since it was started or completed; None if none yet, or if that
        was less than a second ago."""
        searched = self.done - self.done_before
        seconds = (now - self.started_at).total_seconds() if self.started_at and self.is_active else 0.0
        return searched / seconds if seconds >= 1 and searched > 0 else None


class RunPart(models.Model):
    """Some queries of an active run, which one worker searches: the case queries with the ids from `first` to `last`.

    It is deleted when they have been searched, or the run is stopped. A run ends when it has no part any more.

    claimed_by: the token of the worker that searches it; empty if none does.
    slots: how many requests at a time that worker may send to the endpoint.
    heartbeat_at: when that worker last said that it is alive; of a part without worker, when one last worked on it or found all
        requests of the endpoint in use.
    worker_restarts: how many workers in a row stopped unexpectedly.
    connection_failures: how many searches in a row had not reached the engine when a worker released it.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="parts")
    first = models.PositiveBigIntegerField()
    last = models.PositiveBigIntegerField()
    claimed_by = models.CharField(max_length=32, blank=True)
    slots = models.PositiveSmallIntegerField(default=0)
    heartbeat_at = models.DateTimeField(null=True)
    worker_restarts = models.PositiveSmallIntegerField(default=0)
    connection_failures = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ("run", "first")
        constraints = [models.UniqueConstraint(fields=("run", "first"), name="run_part_once")]

    def __str__(self) -> str:
        return f"Part of {self.run}"


# Written by hand because every view of a case reads it, and building the nested QuerySets took longer than executing it.
_COMPLETE = f"FROM {Run._meta.db_table} WHERE case_id = %s AND status = '{Run.Status.COMPLETE}'"
_NEWEST_AND_NAMED = f"""
    SELECT id FROM (SELECT id FROM {Run._meta.db_table} WHERE case_id = %s ORDER BY number DESC LIMIT 1) newest
    UNION SELECT id FROM (SELECT id {_COMPLETE} ORDER BY number DESC LIMIT 2) complete
    UNION SELECT id FROM {Run._meta.db_table} WHERE case_id = %s AND number = %s
    UNION SELECT id FROM (SELECT id {_COMPLETE} AND number < %s ORDER BY number DESC LIMIT 1) baseline
"""
