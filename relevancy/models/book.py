"""Judgment lists: queries and everybody's ratings on one rating scale."""

from typing import Any, ClassVar, Self

from django.conf import settings
from django.db import models

from . import elements  # noqa: F401 (the lookup `holds` of JSON lists)
from .access import SharedQuerySet
from .team import Team


class BookQuerySet(SharedQuerySet):
    """Books; who sees a case sees its book and may rate there by his role in the case."""

    def _shared_role(self, user: Any) -> Any:
        own = super()._shared_role(user)
        case = self.model._meta.get_field("cases").related_model
        # An editor of a case is a rater of its book: changing the book itself needs the role on the book.
        seen = (
            case.objects.with_role(user)
            .filter(book=models.OuterRef("pk"))
            .order_by("-role")
            .values(rated=models.functions.Least("role", models.Value(2)))[:1]
        )
        return models.functions.Greatest(
            own, models.functions.Coalesce(models.Subquery(seen, output_field=models.IntegerField()), 0)
        )


class Book(models.Model):
    """A judgment list: one rating scale, its queries, the ratings, and the rule that brings ratings together."""

    class Rule(models.TextChoices):
        LATEST = "latest"
        MEAN = "mean"
        MEDIAN = "median"
        MAJORITY = "majority"
        LOWEST_OF_THREE = "lowest_of_three", "lowest of the three highest"

    name = models.CharField(max_length=191)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="books")
    teams = models.ManyToManyField(Team, blank=True, related_name="books")
    scale = models.JSONField(help_text="The grades from low to high: [[1, ''], [2, ''], …]")
    relevant_from = models.FloatField(help_text="The lowest grade that counts as relevant.")
    rule = models.CharField(max_length=20, choices=Rule, default=Rule.LATEST)
    created_at = models.DateTimeField(auto_now_add=True)
    rescore_queued_at = models.DateTimeField(
        null=True, editable=False, help_text="A rescoring of its cases is on its way."
    )

    objects: ClassVar = BookQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        constraints = [
            models.CheckConstraint(
                condition=models.Q(rule__in=["latest", "mean", "median", "majority", "lowest_of_three"]),
                name="book_rule_known",
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def grades(self) -> tuple[float, ...]:
        """The scale's numbers, ascending."""
        return tuple(value for value, _ in self.scale)

    @property
    def lowest(self) -> float:
        return self.grades[0]

    @property
    def top(self) -> float:
        return self.grades[-1]


class QueryQuerySet(models.QuerySet["Query"]):
    """Queries of books."""

    def live(self) -> Self:
        """Without the retired ones."""
        return self.filter(retired_at=None)


class Query(models.Model):
    """What a user typed. `revision` counts every change to its ratings; scores remember the revision they were made from."""

    book = models.ForeignKey(Book, on_delete=models.CASCADE, related_name="queries")
    text = models.CharField(max_length=2048)
    text_key = models.CharField(max_length=64, editable=False, help_text="SHA-256 of the text: what makes it unique")
    information_need = models.TextField(blank=True)
    notes = models.TextField(blank=True)
    tags = models.JSONField(default=list, blank=True)
    revision = models.PositiveBigIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar = QueryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "queries"
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(fields=("book", "text_key"), name="query_once_per_book"),
            models.CheckConstraint(condition=~models.Q(text=""), name="query_not_empty"),
        ]

    def __str__(self) -> str:
        return self.text if len(self.text) <= 80 else self.text[:79] + "…"
