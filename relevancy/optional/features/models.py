"""Feature sets of cases, and the values of their features that engines have returned."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from django.conf import settings
from django.db import models
from django.db.models import Q
from numpy.typing import NDArray

from relevancy.models import Attempt, Case, Query, Run, ScorerVersion

from .feature_text import Feature


class FeatureSet(models.Model):
    """A version of the features of a case. It never changes once values of it have been logged.

    attempt: whose endpoint, id field and options the features use. features: `[[name, kind, text], …]`, see `Feature`.
    """

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="feature_sets")
    version = models.PositiveIntegerField()
    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="feature_sets")
    features = models.JSONField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("case", "-version")
        constraints = [models.UniqueConstraint(fields=("case", "version"), name="feature_set_version_once")]

    def __str__(self) -> str:
        return f"Feature set {self.version}"

    @property
    def items(self) -> list[Feature]:
        """The features, in order."""
        return [Feature(*item) for item in self.features]


class FeatureLogQuerySet(models.QuerySet["FeatureLog"]):
    """Logs of features."""

    def active(self) -> FeatureLogQuerySet:
        """Those that a worker goes on with."""
        return self.filter(status__in=FeatureLog.ACTIVE_STATUSES)


class FeatureLog(models.Model):
    """The values of a feature set for the rated documents of a case, and for the results of a run.

    run, depth: whose first results are logged as well; none without a run. config: of the attempt, as that of a run.
    queries, done, failed: of the case at the start; logged so far; of these, that ended with an error. requests: sent so far.
    claimed_by, heartbeat_at, slots, worker_restarts: the lease of the worker that goes on with it, as that of a `RunPart`.
    """

    class Status(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        STOPPED = "stopped"
        COMPLETE = "complete"
        FAILED = "failed"

    ACTIVE_STATUSES: ClassVar = (Status.WAITING, Status.RUNNING)

    feature_set = models.ForeignKey(FeatureSet, on_delete=models.CASCADE, related_name="logs")
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    depth = models.PositiveSmallIntegerField(default=0)
    config = models.JSONField()
    status = models.CharField(max_length=10, choices=Status, default=Status.WAITING)
    reason = models.TextField(blank=True)
    stop_requested = models.BooleanField(default=False)
    queries = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    requests = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    queued_at = models.DateTimeField(null=True)
    claimed_by = models.CharField(max_length=32, blank=True, default="")
    heartbeat_at = models.DateTimeField(null=True)
    slots = models.PositiveSmallIntegerField(default=0)
    worker_restarts = models.PositiveSmallIntegerField(default=0)

    objects: ClassVar = FeatureLogQuerySet.as_manager()

    class Meta:
        ordering = ("-id",)
        indexes = [
            models.Index(fields=("status",), condition=Q(status__in=("waiting", "running")), name="feature_log_active")
        ]

    def __str__(self) -> str:
        return f"Log {self.pk} of {self.feature_set}"

    @property
    def is_active(self) -> bool:
        """Whether a worker goes on with it."""
        return self.status in self.ACTIVE_STATUSES


class FeatureValues(models.Model):
    """The values of a log for the documents of one query.

    doc_ids: see `pack_doc_ids`. packed: [documents × features] floats of four bytes; NaN where a query does not match the document
    or the document has no such number, which is not 0. gone: documents that the engine does not have; they are left out.
    """

    id = models.BigAutoField(primary_key=True)
    log = models.ForeignKey(FeatureLog, on_delete=models.CASCADE, related_name="values", db_index=False)
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="+")
    doc_ids = models.BinaryField()
    packed = models.BinaryField()
    gone = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)

    class Meta:
        verbose_name_plural = "feature values"
        constraints = [models.UniqueConstraint(fields=("log", "query"), name="feature_values_once")]

    def __str__(self) -> str:
        return f"{self.query} in log {self.log_id}"

    def matrix(self, features: int) -> NDArray[np.float32]:
        """[documents × features] the values."""
        return np.frombuffer(bytes(self.packed), "<f4").reshape(-1, features)


class FeatureModel(models.Model):
    """A model that ranks by the features of a log.

    version: of the scorer that it was fitted for. seed: of the folds. content, by_fold: as `RankingModel.to_json` writes them; the
    model that was fitted on all queries, and those without the queries of each fold. findings: see `cross_fitting.summarize`.
    attempt, run: that were made of it.
    claimed_by, heartbeat_at, worker_restarts: the lease of the worker that fits it, as that of a log.
    """

    class Kind(models.TextChoices):
        ASCENT = "ascent", "Weighted sum, coordinate ascent"
        RIDGE = "ridge", "Weighted sum, ridge"
        TREES = "trees", "Trees, LambdaRank"

    class Status(models.TextChoices):
        WAITING = "waiting"
        COMPLETE = "complete"
        FAILED = "failed"

    log = models.ForeignKey(FeatureLog, on_delete=models.CASCADE, related_name="fitted")
    kind = models.CharField(max_length=10, choices=Kind)
    version = models.ForeignKey(ScorerVersion, on_delete=models.PROTECT, related_name="+")
    seed = models.PositiveIntegerField()
    status = models.CharField(max_length=10, choices=Status, default=Status.WAITING)
    reason = models.TextField(blank=True)
    content = models.JSONField(default=dict)
    by_fold = models.JSONField(default=list)
    findings = models.JSONField(default=dict)
    attempt = models.ForeignKey(Attempt, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    queued_at = models.DateTimeField(null=True)
    claimed_by = models.CharField(max_length=32, blank=True, default="")
    heartbeat_at = models.DateTimeField(null=True)
    worker_restarts = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"Model {self.pk}"
