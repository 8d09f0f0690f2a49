"""What users clicked, and what a click model makes of it. Apart from ratings: it affects no score."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from relevancy.models import Book, Query
from relevancy.models.text import LineField


class ClickLog(models.Model):
    """A search log with clicks, as a click model sees it. The newest one of a book that is ready replaces the others.

    rater: whose ratings the estimates become. strength: examinations that the prior counts as. searches, pairs: of the whole log.
    examination: [[position, how likely users look at it or null], …]; empty for models that do not estimate it.
    remarks: what of the log was left out. thresholds, min_evidence: with which its ratings were last accepted.
    """

    class Method(models.TextChoices):
        POSITION = "position", "Position-based model"
        IPS = "ips", "Inverse propensity weights"
        COEC = "coec", "Clicks over expected clicks"
        CASCADE = "cascade", "Simplified dynamic Bayesian network"

    book = models.ForeignKey(Book, on_delete=models.CASCADE, related_name="click_logs")
    name = LineField(max_length=191, help_text="of the file")
    method = models.CharField(max_length=10, choices=Method)
    strength = models.FloatField()
    rater = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    searches = models.PositiveBigIntegerField()
    pairs = models.PositiveBigIntegerField()
    examination = models.JSONField(default=list, blank=True)
    remarks = models.JSONField(default=list, blank=True)
    thresholds = models.JSONField(default=list, blank=True)
    min_evidence = models.FloatField(null=True, blank=True)
    is_ready = models.BooleanField(default=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-id",)
        constraints = [
            models.CheckConstraint(
                condition=Q(method__in=["position", "ips", "coec", "cascade"]), name="click_log_method_known"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.book}"


class ClickEstimate(models.Model):
    """How relevant a document is by the clicks of users. Not a rating.

    value: estimate of the click model, shrunken to what is expected of its positions; unshrunken: without that.
    evidence: in examinations. shown, clicks: searches in which it was shown, and clicked, at all positions.
    """

    log = models.ForeignKey(ClickLog, on_delete=models.CASCADE, related_name="estimates")
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="click_estimates")
    doc_id = models.CharField("document id", max_length=500)
    value = models.FloatField()
    unshrunken = models.FloatField()
    evidence = models.FloatField()
    shown = models.PositiveBigIntegerField()
    clicks = models.PositiveBigIntegerField()

    class Meta:
        ordering = ("id",)
        constraints = [models.UniqueConstraint(fields=("log", "query", "doc_id"), name="click_estimate_once")]

    def __str__(self) -> str:
        return f"{self.doc_id}: {self.value:g}"
