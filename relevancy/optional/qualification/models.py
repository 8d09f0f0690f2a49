"""Qualification: documents with known grades that a new rater judges before the rater's ratings of a book count."""

from typing import ClassVar, Self

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from relevancy.models import Book, Query, Run, Verdict
from relevancy.models.text import MultilineField


class QualificationRule(models.Model):
    """Whether new raters of a book have to qualify.

    share: per cent of the set in which a rater has to agree with the key; None: ratings count at once.
    distance: how far a grade may be from the key to agree with it.
    """

    book = models.OneToOneField(Book, on_delete=models.CASCADE, related_name="+")
    share = models.PositiveSmallIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1), MaxValueValidator(100)]
    )
    distance = models.FloatField(default=0, validators=[MinValueValidator(0), MaxValueValidator(1_000_000)])

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.book_id}: {self.share or 'off'}"


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

    class Meta:
        ordering = ("id",)
        constraints = [models.UniqueConstraint(fields=("query", "doc_id"), name="qualification_pair_once")]

    def __str__(self) -> str:
        return f"{self.doc_id} for {self.query_id}: {self.value:g}"


class QualificationQuerySet(models.QuerySet["Qualification"]):
    """Qualifications."""

    def counting(self) -> Self:
        """Those of raters whose ratings count."""
        return self.filter(state__in=["passed", "accepted"])


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

    objects: ClassVar = QualificationQuerySet.as_manager()

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
    def has_ended(self) -> bool:
        """Whether the round is over: the key or an editor has decided."""
        return self.state != self.State.JUDGING

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
