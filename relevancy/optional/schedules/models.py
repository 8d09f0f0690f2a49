"""Schedules: when the worker runs a case or the cases of a group by itself, and what it reports."""

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from relevancy.models import Attempt, Case, Run
from relevancy.models.secret import EncryptedJSONField
from relevancy.models.text import LineField
from relevancy.optional.groups.models import CaseGroup


class Schedule(models.Model):
    """When a case, or each case of a group, is run, and with which run it is compared.

    case, group: one of them.
    cron: times in the five fields of cron, in `time_zone`.
    attempt: None for the newest at that time. baseline: None for the complete scheduled run before. Both None for a group, each case of
        which runs its newest attempt. baseline_check: of a group, None for the newest complete scheduled run of each case before.
    max_drop: points that a score may fall, beyond noise, before it is reported.
    author: who saved it last; runs are made in this user's name, who must be allowed to use the endpoint.
    webhook_secret: `{"key": …}`, the key of its signatures.
    next_at: None while it is switched off.
    """

    case = models.OneToOneField(Case, on_delete=models.CASCADE, null=True, blank=True, related_name="schedule")
    group = models.OneToOneField(CaseGroup, on_delete=models.CASCADE, null=True, blank=True, related_name="schedule")
    cron = LineField(
        "times",
        max_length=100,
        help_text="As in cron: minute, hour, day of the month, month, day of the week. 0 2 * * * is every night at 2:00.",
    )
    time_zone = models.CharField(max_length=64, default="UTC")
    attempt = models.ForeignKey(Attempt, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    baseline = models.ForeignKey(
        Run, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", verbose_name="compare with"
    )
    baseline_check = models.ForeignKey(
        "ScheduledCheck",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name="compare with",
    )
    max_drop = models.FloatField(
        "allowed drop",
        default=0.0,
        validators=[MinValueValidator(0.0), MaxValueValidator(100.0)],
        help_text="Points. A drop is reported if it is larger, and is not noise.",
    )
    recipients = models.ManyToManyField(settings.AUTH_USER_MODEL, blank=True, related_name="+", verbose_name="e-mail")
    webhook_url = LineField(
        "webhook",
        max_length=500,
        blank=True,
        help_text="An address that gets the result as JSON, signed. Empty: none.",
    )
    webhook_secret = EncryptedJSONField(default=dict, blank=True, editable=False)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    next_at = models.DateTimeField(null=True, blank=True, db_index=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(case__isnull=False, group=None) | Q(case=None, group__isnull=False),
                name="schedule_of_a_case_or_group",
            )
        ]

    def __str__(self) -> str:
        return f"Schedule of {self.scheduled}"

    @property
    def scheduled(self) -> Case | CaseGroup:
        """What is run."""
        scheduled = self.group or self.case
        assert scheduled is not None
        return scheduled


class ScheduledCheck(models.Model):
    """One time that a schedule came due: the runs it started, and what came of it. It stays when the schedule is removed.

    case, group: one of them. runs: of the case, or of each case of the group.
    message: in sentences; empty while it waits.
    """

    class Status(models.TextChoices):
        WAITING = "waiting"
        PASSED = "passed"
        DROPPED = "dropped"
        FAILED = "failed"

    case = models.ForeignKey(Case, on_delete=models.CASCADE, null=True, related_name="scheduled_checks")
    group = models.ForeignKey(CaseGroup, on_delete=models.CASCADE, null=True, related_name="scheduled_checks")
    status = models.CharField(max_length=10, choices=Status, default=Status.WAITING)
    message = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-id",)
        indexes = [
            models.Index(fields=("case", "-id"), name="scheduled_check_of_case"),
            models.Index(fields=("group", "-id"), name="scheduled_check_of_group"),
            models.Index(fields=("status",), condition=Q(status="waiting"), name="scheduled_check_waiting"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(case__isnull=False, group=None) | Q(case=None, group__isnull=False),
                name="scheduled_check_of_a_case_or_group",
            )
        ]

    def __str__(self) -> str:
        return f"Check of {self.case or self.group} on {self.created_at:%Y-%m-%d %H:%M}"


class CheckRun(models.Model):
    """A case in a check: the run that was started, and the run that it is compared with.

    run: None before it is started, and if it cannot be started or was deleted. problem: why it was not started.
    """

    check_of = models.ForeignKey(ScheduledCheck, on_delete=models.CASCADE, related_name="runs")
    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="+")
    run = models.OneToOneField(Run, on_delete=models.SET_NULL, null=True, related_name="check_run")
    baseline = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="+")
    problem = models.TextField(blank=True)

    class Meta:
        ordering = ("case__name", "case")
        constraints = [models.UniqueConstraint(fields=("check_of", "case"), name="check_run_once")]

    def __str__(self) -> str:
        return f"{self.case} in {self.check_of}"


class Notification(models.Model):
    """A message about a check that has not passed, to one address, until it is delivered or has failed six times.

    next_at: of the next attempt; None once it is delivered, or will not be tried again.
    """

    class Kind(models.TextChoices):
        EMAIL = "email", "e-mail"
        WEBHOOK = "webhook"

    check_of = models.ForeignKey(ScheduledCheck, on_delete=models.CASCADE, related_name="notifications")
    kind = models.CharField(max_length=10, choices=Kind)
    recipient = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, related_name="+", help_text="Of an e-mail."
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField(null=True, db_index=True)
    delivered_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.get_kind_display()} about {self.check_of}"
