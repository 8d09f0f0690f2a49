"""Studies: searches for better values of the knobs of an attempt, with everything that the engine answered."""

from typing import Any, ClassVar

import numpy as np
from django.conf import settings
from django.db import models
from django.db.models import Q
from numpy.typing import NDArray

from relevancy.engines import KnobValue
from relevancy.models import Attempt, Case, ScorerVersion, User
from relevancy.models.ranking import unpack_doc_ids
from relevancy.models.text import LineField
from relevancy.queries.tags import MAX_LENGTH
from relevancy.wording import counted

from .space import Settings, Space

DIGEST_LENGTH = 16


class StudyQuerySet(models.QuerySet["Study"]):
    """Studies of cases."""

    def active(self) -> "StudyQuerySet":
        """Those that a worker goes on with."""
        return self.filter(status__in=Study.ACTIVE_STATUSES)


class Study(models.Model):
    """A search for the best values of some knobs of an attempt, within a budget.

    parent: the attempt that is varied; trial 0. config, rows: as those of a run.
    space: the knobs, as `Space.to_json` writes them. seed: of trials and folds.
    trials_wanted: the budget of trials, the parent included. max_requests, max_minutes: further budgets; None for none.
    guards: `[{"tag": "", "max_fall": 2.0}]`, points that the mean of all queries or of those with a tag may fall.
    max_ms: the mean search time that a chosen trial may have; None for any.
    estimates: whether its last trials are settings that were estimated to be the best. estimated: what came of that, see
        `pools.estimate`; empty before.
    query_ids, weights, units: of the queries that are searched, as they were at the start; units: see `merge_units`, None if no
        queries are linked.
    sealed_tag, sealed_query_ids, sealed_weights, sealed_units: of the queries that were sealed at the start.
    requests: sent so far. seconds: of work so far.
    claimed_by, heartbeat_at, slots: the lease of the worker that goes on with it, as that of a `RunPart`.
    worker_restarts: workers in a row that have died at it, or have lost the database.
    scored_revision: of the case's ratings that the scores of its trials follow from; None before there are any.
    findings: what `findings.build_findings` found with these ratings; empty before.
    """

    class Status(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        STOPPED = "stopped"
        COMPLETE = "complete"
        FAILED = "failed"

    ACTIVE_STATUSES: ClassVar = (Status.WAITING, Status.RUNNING)

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="studies")
    number = models.PositiveIntegerField()
    name = LineField(max_length=120, blank=True)
    parent = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="studies")
    version = models.ForeignKey(ScorerVersion, on_delete=models.PROTECT, related_name="+")
    config = models.JSONField()
    rows = models.PositiveSmallIntegerField()
    space = models.JSONField()
    trials_wanted = models.PositiveSmallIntegerField()
    max_requests = models.PositiveIntegerField(null=True, blank=True)
    max_minutes = models.PositiveIntegerField(null=True, blank=True)
    seed = models.PositiveIntegerField()
    guards = models.JSONField(default=list, blank=True)
    max_ms = models.PositiveIntegerField(null=True, blank=True)
    estimates = models.BooleanField(default=False)
    estimated = models.JSONField(default=dict, blank=True)
    query_ids = models.JSONField()
    weights = models.JSONField()
    units = models.JSONField(null=True)
    sealed_tag = LineField(max_length=MAX_LENGTH, blank=True, default="")
    sealed_query_ids = models.JSONField(default=list, blank=True)
    sealed_weights = models.JSONField(default=list, blank=True)
    sealed_units = models.JSONField(null=True)
    status = models.CharField(max_length=10, choices=Status, default=Status.WAITING)
    reason = models.TextField(blank=True)
    stop_requested = models.BooleanField(default=False)
    requests = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0.0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    queued_at = models.DateTimeField(null=True)
    claimed_by = models.CharField(max_length=32, blank=True, default="")
    heartbeat_at = models.DateTimeField(null=True)
    slots = models.PositiveSmallIntegerField(default=0)
    worker_restarts = models.PositiveSmallIntegerField(default=0)
    scored_revision = models.PositiveBigIntegerField(null=True)
    findings = models.JSONField(default=dict)

    objects: ClassVar = StudyQuerySet.as_manager()

    class Meta:
        ordering = ("case", "-number")
        verbose_name_plural = "studies"
        constraints = [models.UniqueConstraint(fields=("case", "number"), name="study_number_once")]
        indexes = [
            models.Index(fields=("status",), condition=Q(status__in=("waiting", "running")), name="study_active")
        ]

    def __str__(self) -> str:
        return f"Study {self.number}"

    @property
    def is_active(self) -> bool:
        """Whether a worker goes on with it."""
        return self.status in self.ACTIVE_STATUSES

    @property
    def used_budget(self) -> str:
        """Which budget of requests or minutes is used, in a sentence; empty for none."""
        if self.max_requests is not None and self.requests >= self.max_requests:
            return f"The budget of {counted(self.max_requests, 'request')} is used."
        if self.max_minutes is not None and self.seconds >= self.max_minutes * 60:
            return f"The budget of {counted(self.max_minutes, 'minute')} is used."
        return ""

    @property
    def knobs(self) -> Space:
        """The space."""
        return Space.from_json(self.space)

    @property
    def all_query_ids(self) -> list[int]:
        """The ids of its queries, and after them of the sealed ones: a `StudyAnswer.position` counts in them."""
        return [*self.query_ids, *self.sealed_query_ids]

    @property
    def parent_settings(self) -> dict[str, KnobValue]:
        """The values that the parent has of the knobs."""
        return {knob.name: self.config["knobs"][knob.name] for knob in self.knobs.knobs}

    def config_with(self, settings: Settings) -> dict[str, Any]:
        """Returns the config with other values of its knobs."""
        return {**self.config, "knobs": {**self.config["knobs"], **settings}}


class StudyAnswer(models.Model):
    """What the engine answered to one request of a study. Equal requests are asked once.

    position: of the query in the study, see `Study.all_query_ids`. digest: of the rendered request. took_ms: None if the engine does
    not say. A search that failed is not stored, and is asked again.
    """

    id = models.BigAutoField(primary_key=True)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="answers", db_index=False)
    position = models.PositiveIntegerField()
    digest = models.BinaryField(max_length=DIGEST_LENGTH)
    packed = models.BinaryField()
    took_ms = models.PositiveIntegerField(null=True)

    class Meta:
        # The digest comes before the position, because answers are looked up by many digests at a time.
        constraints = [models.UniqueConstraint(fields=("study", "digest", "position"), name="study_answer_once")]

    def __str__(self) -> str:
        return f"{self.study}, query {self.position}"

    @property
    def doc_ids(self) -> list[str]:
        """The ids of the documents in rank order."""
        return unpack_doc_ids(self.packed)


class StudyPool(models.Model):
    """The documents of a query that settings are estimated with: those that trials have returned.

    position: of the query in the study. documents: that were explained; packed: the ids of those whose scores are made of sums. parts:
    what these are made of, as `estimates.Pool.to_bytes` writes it.
    """

    id = models.BigAutoField(primary_key=True)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="pools", db_index=False)
    position = models.PositiveIntegerField()
    documents = models.PositiveIntegerField()
    packed = models.BinaryField()
    parts = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=("study", "position"), name="study_pool_once")]

    def __str__(self) -> str:
        return f"{self.study}, query {self.position}"

    @property
    def doc_ids(self) -> list[str]:
        """The ids of the documents."""
        return unpack_doc_ids(self.packed)


class StudyTrial(models.Model):
    """Settings that a study has tried.

    settings: `{knob: value}`, numbers and texts. origin: who proposed them. fold_left_out: whose scores were hidden from it; −1 if it
        needed no scores.
    answers: the id of its answer for each query, eight bytes each; 0 where none was asked.
    columns: [4 × queries] floats of eight bytes: score, lowest and highest possible score in points, and number of unrated documents;
        with the ratings of `Study.scored_revision`. NaN where there is none.
    took_ms: the mean search time of its answers; None if the engine does not say.
    stopped: whether it was given up because it could not win any more. error: why it failed; empty if it did not.
    """

    id = models.BigAutoField(primary_key=True)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="trials")
    number = models.PositiveIntegerField()
    settings = models.JSONField()
    origin = models.CharField(max_length=10)
    fold_left_out = models.SmallIntegerField(default=-1)
    answers = models.BinaryField()
    columns = models.BinaryField()
    took_ms = models.FloatField(null=True)
    stopped = models.BooleanField(default=False)
    error = models.TextField(blank=True)

    class Meta:
        ordering = ("study", "number")
        constraints = [models.UniqueConstraint(fields=("study", "number"), name="study_trial_once")]

    def __str__(self) -> str:
        return f"Trial {self.number}"

    @property
    def answer_ids(self) -> NDArray[np.int64]:
        """[queries] the ids of its answers, 0 where there is none."""
        return np.frombuffer(bytes(self.answers), "<i8")

    @property
    def values(self) -> NDArray[np.float64]:
        """[4 × queries] as in `columns`."""
        return np.frombuffer(bytes(self.columns), "<f8").reshape(4, -1)


class StudyAttempt(models.Model):
    """An attempt that was made of a trial, with the evidence as it was then.

    study: None once it was deleted. trial: its number. tried: settings that the study had tried by then, besides its parent.
    """

    study = models.ForeignKey(Study, null=True, on_delete=models.SET_NULL, related_name="made_attempts")
    attempt = models.OneToOneField(Attempt, on_delete=models.CASCADE, related_name="made_by_study")
    trial = models.PositiveIntegerField()
    tried = models.PositiveIntegerField(default=0)
    sentence = models.TextField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.attempt}, trial {self.trial}"


class SealedTag(models.Model):
    """The tag of the queries of a case that no study searches. Without a row, none are sealed."""

    case = models.OneToOneField(Case, on_delete=models.CASCADE, related_name="sealed_tag")
    tag = LineField(max_length=MAX_LENGTH)

    def __str__(self) -> str:
        return self.tag


class SealedOpening(models.Model):
    """The one time that the sealed queries of a study are opened. It stays when the study is deleted, because it is counted for ever.

    study: None once it was deleted; study_number: its number. tag: of the sealed queries, when the study started.
    trial, settings: what is compared with the parent.
    searched_by: numbers of other studies of the case that had searched some of the queries. unsealed: how many were sealed no more.
    answers: [2 × queries] the ids of the answers for each sealed query, eight bytes each, with the parent's settings and with the
        trial's; 0 where there is none. result: see `sealed_queries`. Both are empty until everything is searched.
    """

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="sealed_openings")
    study = models.OneToOneField(Study, null=True, on_delete=models.SET_NULL, related_name="opening")
    study_number = models.PositiveIntegerField()
    tag = LineField(max_length=MAX_LENGTH)
    trial = models.PositiveIntegerField()
    settings = models.JSONField()
    searched_by = models.JSONField(default=list, blank=True)
    unsealed = models.PositiveIntegerField(default=0)
    answers = models.BinaryField(default=bytes)
    result = models.JSONField(default=dict, blank=True)
    opened_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    opened_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("case", "-id")

    def __str__(self) -> str:
        return f"Opening for study {self.study_number}"

    @property
    def answer_ids(self) -> NDArray[np.int64]:
        """[2 × queries] as in `answers`."""
        return np.frombuffer(bytes(self.answers), "<i8").reshape(2, -1)
