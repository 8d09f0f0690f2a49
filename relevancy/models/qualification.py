"""Qualification: documents with known grades that a new rater judges before the rater's ratings of a book count."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from .book import Book, Query
from .rating import Verdict
from .run import Run
from .text import MultilineField


class QualificationPair(models.Model):
    """A document of the qualification set of a book.

    value: the key, the grade that is right. run: stores the document.
    removed_at: when it left the set; answers that were given before are kept.
    """

    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="qualification_pairs")
    doc_id = models.CharField("document id", max_length=500)
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="+")
    value = models.FloatField()
    removed_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar = models.Manager()

    class Meta:
        ordering = ("id",)
        constraints = [models.UniqueConstraint(fields=("query", "doc_id"), name="qualification_pair_once")]

    def __str__(self) -> str:
        return f"{self.doc_id} for {self.query_id}: {self.value:g}"


class Qualification(models.Model):
    """How far a rater of a book has come.

    round: counts from 1; another round begins when an editor lets the rater try again.
    agreed, answered: of the round, when it ended. decided_by: the editor who accepted the rater; empty if the key decided.
    """

    class State(models.TextChoices):
        JUDGING = "judging"
        PASSED = "passed"
        FAILED = "failed", "not passed"
        ACCEPTED = "accepted"

    book = models.ForeignKey(Book, on_delete=models.CASCADE, related_name="qualifications")
    rater = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="qualifications")
    state = models.CharField(max_length=10, choices=State, default=State.JUDGING)
    round = models.PositiveSmallIntegerField(default=1)
    agreed = models.PositiveIntegerField(default=0)
    answered = models.PositiveIntegerField(default=0)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar = models.Manager()

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(fields=("book", "rater"), name="qualification_once"),
            models.CheckConstraint(
                condition=Q(state__in=["judging", "passed", "failed", "accepted"]), name="qualification_state_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rater_id}: {self.state}"

    @property
    def counts(self) -> bool:
        """Whether the rater's ratings count."""
        return self.state in (self.State.PASSED, self.State.ACCEPTED)


class QualificationAnswer(models.Model):
    """A rater's judgment of a document of the set. Not a rating: it becomes one when the rater's ratings count."""

    pair = models.ForeignKey(QualificationPair, on_delete=models.CASCADE, related_name="answers")
    rater = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    round = models.PositiveSmallIntegerField()
    verdict = models.CharField(max_length=10, choices=Verdict)
    value = models.FloatField(null=True, blank=True)
    note = MultilineField(blank=True)
    at = models.DateTimeField()

    objects: ClassVar = models.Manager()

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(fields=("pair", "rater", "round"), name="qualification_answer_once"),
            models.CheckConstraint(
                condition=Q(verdict="rated", value__isnull=False) | (~Q(verdict="rated") & Q(value__isnull=True)),
                name="qualification_value_goes_with_verdict",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rater_id}: {self.value if self.value is not None else self.verdict}"
