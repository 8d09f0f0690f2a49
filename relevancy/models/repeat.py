"""Pairs that a rater judges a second time, which shows how far the rater agrees with themselves."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from .book import Query
from .rating import Verdict
from .run import Run


class RepeatedPair(models.Model):
    """A document that a rater has rated and judges again. The second judgment is not a rating: the first one counts.

    run: stores the document. wait: judgments that the rater gives before it comes again.
    first_value: the rater's rating when the second judgment was given. verdict, value, at: the second judgment; empty before it.
    """

    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="repeated_pairs")
    doc_id = models.CharField("document id", max_length=500)
    rater = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="+")
    wait = models.PositiveSmallIntegerField()
    first_value = models.FloatField(null=True)
    verdict = models.CharField(max_length=10, choices=Verdict, blank=True)
    value = models.FloatField(null=True)
    at = models.DateTimeField(null=True)

    objects: ClassVar = models.Manager()

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(fields=("query", "doc_id", "rater"), name="repeated_pair_once"),
            models.CheckConstraint(
                condition=Q(verdict="rated", value__isnull=False, first_value__isnull=False)
                | (~Q(verdict="rated") & Q(value__isnull=True)),
                name="repeated_value_goes_with_verdict",
            ),
        ]
        indexes = [models.Index(fields=("rater", "wait"), condition=Q(verdict=""), name="repeated_pair_open_of_rater")]

    def __str__(self) -> str:
        return f"{self.doc_id} for {self.query_id} by {self.rater_id}"
