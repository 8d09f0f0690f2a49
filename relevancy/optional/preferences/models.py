"""Preference tests: raters say which of two runs has the better result list for a query, without knowing which run is which."""

from typing import ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from relevancy.models import Book, Query, Run
from relevancy.models.judging import draw_seed


class PreferenceTestQuerySet(models.QuerySet["PreferenceTest"]):
    """Preference tests."""

    def of_book(self, book: Book) -> Self:
        """Tests of runs on a book, the newest first, each with its runs and their cases."""
        return self.filter(run_b__case__book=book).select_related("run_a__case", "run_b__case__book", "created_by")

    def open(self) -> Self:
        """Excludes tests that raters do not get any more."""
        return self.filter(closed_at=None)


class PreferenceTest(models.Model):
    """Two runs of cases on the same book, compared list by list.

    run_a: what the other run is compared with, the baseline of the comparison that the test was started from.
    depth: how many results of each list raters see.
    drawn, identical: queries that were drawn at random, and those of them with the same list in both runs, which need no judgment.
    seed: of the draw, the order and the sides.
    """

    run_a = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    run_b = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    depth = models.PositiveSmallIntegerField()
    drawn = models.PositiveIntegerField()
    identical = models.PositiveIntegerField()
    seed = models.PositiveIntegerField(default=draw_seed, editable=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar = PreferenceTestQuerySet.as_manager()

    class Meta:
        ordering = ("-id",)
        constraints = [
            models.UniqueConstraint(fields=("run_a", "run_b"), name="preference_test_once"),
            models.CheckConstraint(condition=~Q(run_a=F("run_b")), name="preference_test_of_two_runs"),
        ]

    def __str__(self) -> str:
        return f"Preference test {self.pk}"


class PreferenceQuery(models.Model):
    """A query of a preference test."""

    test = models.ForeignKey(PreferenceTest, on_delete=models.CASCADE, related_name="test_queries")
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="+")

    class Meta:
        ordering = ("id",)
        verbose_name_plural = "preference queries"
        constraints = [models.UniqueConstraint(fields=("test", "query"), name="preference_query_once")]

    def __str__(self) -> str:
        return f"{self.query_id} in {self.test_id}"


class PreferenceQuerySet(models.QuerySet["Preference"]):
    """Preferences."""

    def standing(self) -> Self:
        """Preferences that were not taken back, oldest first: of several by a rater for a query, the last one counts."""
        return self.filter(undone_at=None).order_by("pk")


class Preference(models.Model):
    """A rater's answer for one query. Rows are never changed but to be taken back: another answer is another row.

    lists_key: of the results that the rater saw; if those of a run have changed since, the answer is left out.
    """

    class Choice(models.TextChoices):
        A = "a", "the first run"
        B = "b", "the second run"
        TIE = "tie", "equally good"
        CANNOT = "cannot", "cannot judge"

    test_query = models.ForeignKey(PreferenceQuery, on_delete=models.CASCADE, related_name="preferences")
    rater = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="preferences")
    choice = models.CharField(max_length=10, choices=Choice)
    lists_key = models.CharField(max_length=16)
    at = models.DateTimeField(auto_now_add=True)
    undone_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar = PreferenceQuerySet.as_manager()

    class Meta:
        ordering = ("id",)
        constraints = [
            models.CheckConstraint(condition=Q(choice__in=["a", "b", "tie", "cannot"]), name="preference_choice_known")
        ]

    def __str__(self) -> str:
        return f"{self.choice} by {self.rater_id}"
