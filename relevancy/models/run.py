"""Runs of attempts, and the rankings they returned."""

from typing import ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.expressions import RawSQL

from .attempt import Attempt
from .book import Query
from .case import Case
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

    def newest_and_named(self, case: Case, number: int) -> Self:
        """The case's newest run, its last two complete ones, the one with this number, and the last complete one before it, newest
        first."""
        return self.filter(
            pk__in=RawSQL(_NEWEST_AND_NAMED, [case.pk, case.pk, case.pk, number, case.pk, number])
        ).order_by("-number")

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
    cancel_requested = models.BooleanField(default=False)
    claimed_by = models.CharField(max_length=64, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    worker_restarts = models.PositiveSmallIntegerField(default=0)
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
    seconds = models.FloatField(default=0, help_text="Time spent searching, without the pauses between workers.")
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
        indexes = [models.Index(fields=("status", "heartbeat_at"), name="run_to_sweep")]

    def __str__(self) -> str:
        return f"Run {self.number}"

    @property
    def is_active(self) -> bool:
        return self.status in self.ACTIVE_STATUSES

    @property
    def label(self) -> str:
        """The number, and the name if there is one: `Run 12, phrase boost`."""
        return f"{self}, {self.name}" if self.name else str(self)


# Written by hand because every view of a case reads it, and building the nested QuerySets took longer than executing it.
_COMPLETE = f"FROM {Run._meta.db_table} WHERE case_id = %s AND status = '{Run.Status.COMPLETE}'"
_NEWEST_AND_NAMED = f"""
    SELECT id FROM (SELECT id FROM {Run._meta.db_table} WHERE case_id = %s ORDER BY number DESC LIMIT 1) newest
    UNION SELECT id FROM (SELECT id {_COMPLETE} ORDER BY number DESC LIMIT 2) complete
    UNION SELECT id FROM {Run._meta.db_table} WHERE case_id = %s AND number = %s
    UNION SELECT id FROM (SELECT id {_COMPLETE} AND number < %s ORDER BY number DESC LIMIT 1) baseline
"""


class Ranking(models.Model):
    """The hits of one query in a run, with the text and options as searched. A failed search is a ranking with an `error`.

    `hits`, in rank order: `[[id, engine score or null, {field: value}, {field: highlighted snippet}], …]`. The last element is
    only present if the engine highlighted something.

    `explanations`: why the hits have their scores, `{document id: …}` as `runs.explain_results` writes it; None before they were
    requested.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="rankings")
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="rankings")
    text = models.CharField(max_length=2048)
    options = models.JSONField(default=dict)
    hits = models.JSONField(default=list)
    explanations = models.JSONField(null=True, editable=False)
    returned = models.PositiveIntegerField(default=0)
    total = models.BigIntegerField(null=True)
    took_ms = models.PositiveIntegerField(null=True)
    error_kind = models.CharField(max_length=20, blank=True)
    error = models.TextField(blank=True)
    asked_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = [models.UniqueConstraint(fields=("run", "query"), name="ranking_once_per_run")]
        # Lets failures be counted without reading the rows, whose hits are large.
        indexes = [models.Index(fields=("run", "error_kind"), name="ranking_failures")]

    def __str__(self) -> str:
        return f"{self.text[:60]} in run {self.run_id}"

    @property
    def doc_ids(self) -> list[str]:
        return [hit[0] for hit in self.hits]
