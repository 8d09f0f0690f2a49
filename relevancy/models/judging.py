"""What is to be judged in a book: pairs of a query and a document, in the order in which raters get them."""

from __future__ import annotations

import random
from typing import Any, ClassVar, Self

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Case as CaseExpression
from django.db.models import Count, F, IntegerField, OuterRef, Q, Subquery, Value, When
from django.db.models.functions import Coalesce

from .book import Book, Query
from .rating import Rating, Verdict
from .rating_import import ImportedRating
from .run import Run

MAX_DEPTH, MAX_RATINGS = 100, 9


def draw_seed() -> int:
    """Returns a random seed for the order of a new queue."""
    return random.SystemRandom().randrange(2**31)


class JudgingQueue(models.Model):
    """How the pairs of a book are chosen and ordered, and which runs they were taken from.

    Every pair gets its first rating before any pair gets a second one; `order` decides between pairs with as many raters.
    """

    class Order(models.TextChoices):
        QUERY = "query", "query by query"
        RANK = "rank", "best ranks first"
        WEIGHTED = "weighted", "random, better ranks sooner"

    book = models.OneToOneField(Book, on_delete=models.CASCADE, related_name="judging_queue")
    depth = models.PositiveSmallIntegerField(
        default=10,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_DEPTH)],
        help_text="How many results of each query are judged, in the newest complete run of each case.",
    )
    ratings_per_pair = models.PositiveSmallIntegerField(
        "ratings per document",
        default=1,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_RATINGS)],
        help_text="How many raters rate each document.",
    )
    order = models.CharField(max_length=10, choices=Order, default=Order.QUERY)
    seed = models.PositiveIntegerField(default=draw_seed, editable=False, help_text="Of the random part of the order.")
    run_ids = models.JSONField(default=list, editable=False, help_text="The runs that the pairs were taken from.")
    pair_count = models.PositiveIntegerField(default=0, editable=False)
    built_at = models.DateTimeField(null=True, editable=False, help_text="Empty: the pairs have to be chosen again.")
    build_queued_at = models.DateTimeField(
        null=True, editable=False, help_text="When a background task was enqueued that chooses the pairs."
    )

    objects: ClassVar = models.Manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(order__in=["query", "rank", "weighted"]), name="judging_order_known"),
            models.CheckConstraint(condition=Q(ratings_per_pair__gte=1), name="judging_needs_a_rating"),
        ]

    def __str__(self) -> str:
        return f"Judging queue of {self.book}"


class JudgingPairQuerySet(models.QuerySet["JudgingPair"]):
    """Pairs, by what is left to do."""

    def open(self) -> Self:
        """Pairs that need more ratings."""
        return self.filter(level__isnull=False)

    def without_judgment_by(self, user: Any) -> Self:
        """Pairs without any rating of the user: no grade, no "cannot judge", no "later"."""
        own = Rating.objects.filter(query=OuterRef("query"), doc_id=OuterRef("doc_id"), rater=user)
        imported = ImportedRating.objects.of_rater(user)
        return self.filter(~models.Exists(own), ~models.Exists(imported))

    def in_order(self) -> Self:
        """In the order in which they are to be judged."""
        return self.order_by("level", "key", "id")

    def update_levels(self) -> int:
        """Counts the raters of each of these pairs again. One SQL statement; the queries must be locked.

        Ratings of an import count once they are rows of `Rating`, seconds after it: until then, another rater may get the pair too.
        """
        ratings = Rating.objects.filter(query=OuterRef("query"), doc_id=OuterRef("doc_id")).order_by()

        def count(**condition: Any) -> Coalesce:
            counted = ratings.filter(**condition).values("query").annotate(count=Count("pk")).values("count")
            return Coalesce(Subquery(counted, output_field=IntegerField()), 0)

        needed = Subquery(JudgingQueue.objects.filter(pk=OuterRef("queue")).values("ratings_per_pair"))
        grades = self.annotate(grades=count(verdict=Verdict.RATED), needed=needed)
        raters = count(verdict__in=(Verdict.RATED, Verdict.CANNOT))
        return grades.update(level=CaseExpression(When(grades__gte=F("needed"), then=Value(None)), default=raters))


class JudgingPair(models.Model):
    """A document to judge for a query, with the run that stores the document.

    level: the number of raters who have given a grade or said that they cannot; empty once there are enough grades.
    key: the position among the pairs of one level, ascending.
    claimed_by, claimed_until: the rater who has the pair on the page. Nobody else gets it before that time.
    """

    queue = models.ForeignKey(JudgingQueue, on_delete=models.CASCADE, related_name="pairs")
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="judging_pairs", db_index=False)
    doc_id = models.CharField("document id", max_length=500)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    rank = models.PositiveIntegerField(help_text="The best rank of the document in the runs of the queue.")
    key = models.FloatField()
    level = models.PositiveSmallIntegerField(null=True, default=0)
    claimed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    claimed_until = models.DateTimeField(null=True)

    objects: ClassVar = JudgingPairQuerySet.as_manager()

    class Meta:
        ordering = ("id",)
        constraints = [models.UniqueConstraint(fields=("query", "doc_id"), name="judging_pair_once")]
        indexes = [
            models.Index(
                fields=("queue", "level", "key", "id"), condition=Q(level__isnull=False), name="judging_pair_in_order"
            ),
            models.Index(
                fields=("claimed_by", "queue"), condition=Q(claimed_by__isnull=False), name="judging_pair_claimed"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.doc_id} for {self.query_id}"
