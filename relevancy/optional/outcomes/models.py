"""What users decided between two runs online."""

from functools import cached_property

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from relevancy.models import Case, Run
from relevancy.models.text import LineField

from .statistics import OnlineResult, measure_ab, measure_interleaving


class OnlineOutcome(models.Model):
    """An interleaving or A/B test of two runs of a case that was made elsewhere, counted by session. It affects no score.

    name: of the file. wins_a, wins_b: sessions in which users preferred that run; in an A/B test, its successful sessions.
    ties: sessions without a preference; of an interleaving test. sessions_a, sessions_b: all sessions of that run; of an A/B test.
    remarks: what of the file was left out.
    """

    class Method(models.TextChoices):
        INTERLEAVING = "interleaving", "Interleaving"
        AB = "ab", "A/B test"

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="online_outcomes")
    run_a = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    run_b = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    method = models.CharField(max_length=12, choices=Method)
    name = LineField(max_length=191)
    wins_a = models.PositiveBigIntegerField()
    wins_b = models.PositiveBigIntegerField()
    ties = models.PositiveBigIntegerField(default=0)
    sessions_a = models.PositiveBigIntegerField(default=0)
    sessions_b = models.PositiveBigIntegerField(default=0)
    remarks = models.JSONField(default=list, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-id",)
        constraints = [
            models.CheckConstraint(condition=Q(method__in=["interleaving", "ab"]), name="online_outcome_method_known"),
            models.CheckConstraint(condition=~Q(run_a=F("run_b")), name="online_outcome_of_two_runs"),
            models.CheckConstraint(
                condition=Q(method="interleaving") | Q(wins_a__lte=F("sessions_a"), wins_b__lte=F("sessions_b")),
                name="online_outcome_successes_of_sessions",
            ),
            models.UniqueConstraint(fields=("run_a", "run_b", "method"), name="online_outcome_once"),
        ]

    def __str__(self) -> str:
        return self.name

    @cached_property
    def result(self) -> OnlineResult:
        """What the sessions show."""
        if self.method == self.Method.INTERLEAVING:
            return measure_interleaving(self.wins_a, self.wins_b, self.ties)
        return measure_ab(self.sessions_a, self.wins_a, self.sessions_b, self.wins_b)
