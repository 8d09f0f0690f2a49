"""What is to be judged in a book: pairs of a query and a document, in the order in which raters get them.

See docs/decisions/0090.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from typing import Any, ClassVar, Self

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, FloatField, Func, OuterRef, Q, Subquery, Value
from django.db.models.lookups import GreaterThanOrEqual

from .book import Book, Query
from .rating import Rating, Verdict, of_documents
from .run import Run
from .scorer import ScorerVersion
from .statements import prepared_cursor

MAX_DEPTH, MAX_RATINGS, MAX_REPEAT_SHARE = 100, 9, 50


def draw_seed() -> int:
    """Returns a random seed for the order of a new queue."""
    return random.SystemRandom().randrange(2**31)


class JudgingQueueQuerySet(models.QuerySet["JudgingQueue"]):
    """Judging queues."""

    def of_book(self, book: Book) -> JudgingQueue:
        """Returns the queue of a book; one that is not stored, with the default settings, if it has none."""
        return self.filter(book=book).first() or JudgingQueue(book=book)

    def increment_revision(self) -> None:
        """Says that a pair may be open for a rater again, or come earlier. Call it in the transaction that changes that."""
        self.update(revision=F("revision") + 1)


class JudgingQueue(models.Model):
    """How the pairs of a book are chosen and ordered, and which runs they were taken from.

    Every pair gets its first rating before any pair gets a second one; `order` decides between pairs with as many raters.
    run_a, run_b, version: for `Order.DIFFERENCE`, the compared runs and the scorer. If one of them has been deleted, the order is that
    of the ranks in the newest runs.
    """

    class Order(models.TextChoices):
        QUERY = "query", "query by query"
        RANK = "rank", "best ranks first"
        WEIGHTED = "weighted", "random, better ranks sooner"
        DIFFERENCE = "difference", "what changes the comparison of two runs most"

    book = models.OneToOneField(Book, on_delete=models.CASCADE, related_name="judging_queue")
    depth = models.PositiveSmallIntegerField(
        "results per query",
        default=10,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_DEPTH)],
        help_text="How many of the first results of a query are judged, in the newest complete run of each case.",
    )
    ratings_per_pair = models.PositiveSmallIntegerField(
        "ratings per document",
        default=1,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_RATINGS)],
        help_text="How many raters rate each document.",
    )
    order = models.CharField(
        max_length=10,
        choices=Order,
        default=Order.QUERY,
        help_text="Every document gets its first rating before any gets a second one; this decides between the others.",
    )
    repeat_share = models.PositiveSmallIntegerField(
        "documents that come again, in per cent",
        default=0,
        validators=[MaxValueValidator(MAX_REPEAT_SHARE)],
        help_text="A rater judges this share of them a second time, after 20 others. That shows how far raters agree with themselves; "
        "the first rating counts.",
    )
    run_a = models.ForeignKey(
        Run, null=True, blank=True, on_delete=models.SET_NULL, related_name="+", verbose_name="first run"
    )
    run_b = models.ForeignKey(
        Run, null=True, blank=True, on_delete=models.SET_NULL, related_name="+", verbose_name="second run"
    )
    version = models.ForeignKey(
        ScorerVersion,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        verbose_name="scorer",
        help_text="Scripts, and measures whose bounds are estimates, are not listed.",
    )
    seed = models.PositiveIntegerField(default=draw_seed, editable=False, help_text="Of the random part of the order.")
    run_ids = models.JSONField(default=list, editable=False, help_text="The runs that the pairs were taken from.")
    pair_count = models.PositiveIntegerField(default=0, editable=False)
    built_at = models.DateTimeField(null=True, editable=False, help_text="Empty: the pairs have to be chosen again.")
    revision = models.PositiveBigIntegerField(
        default=0, editable=False, help_text="Incremented when a pair may be open for a rater again, or come earlier."
    )
    build_queued_at = models.DateTimeField(
        null=True, editable=False, help_text="When a background task was enqueued that chooses the pairs."
    )

    objects: ClassVar = JudgingQueueQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(order__in=["query", "rank", "weighted", "difference"]), name="judging_order_known"
            ),
            models.CheckConstraint(condition=Q(ratings_per_pair__gte=1), name="judging_needs_a_rating"),
        ]

    def __str__(self) -> str:
        return f"Judging queue of {self.book}"

    @property
    def is_by_difference(self) -> bool:
        """Whether pairs come in the order in which they can change the comparison of two runs."""
        has_all = None not in (self.run_a_id, self.run_b_id, self.version_id)
        return self.order == self.Order.DIFFERENCE and has_all


class JudgingPairQuerySet(models.QuerySet["JudgingPair"]):
    """Pairs, by what is left to do."""

    def open(self) -> Self:
        """Pairs that need more ratings."""
        return self.filter(level__isnull=False)

    def without_judgment_by(self, user: Any, verdicts: Collection[str] = Verdict.values) -> Self:
        """Pairs without a rating of the user that has one of these verdicts; without any unless some are given.

        A subquery and not `Exists`, for which PostgreSQL reads all ratings of the user even where the first few pairs are wanted.
        """
        own = Rating.objects.filter(query=OuterRef("query"), doc_id=OuterRef("doc_id"), rater=user)
        if len(verdicts) < len(Verdict.values):
            own = own.filter(verdict__in=verdicts)
        return self.alias(own_rating=Subquery(own.order_by().values("pk")[:1])).filter(own_rating=None)

    def in_order(self) -> Self:
        """In the order in which they are to be judged."""
        return self.order_by("level", "key", "id")

    def from_position(self, level: int, key: float, pk: int) -> Self:
        """Those that are not before this position in the order."""
        return self.filter(
            GreaterThanOrEqual(_order_key(F("level"), F("key"), F("pk")), _order_key(*map(Value, (level, key, pk))))
        )

    def release(self) -> None:
        """Frees claimed pairs."""
        self.update(claimed_by=None, claimed_until=None)

    def update_levels(
        self, query_ids: Sequence[int], doc_ids: Collection[str] | None = None, *, has_only_new_ratings: bool = False
    ) -> None:
        """Counts the raters of the pairs of these queries again, or only those of some documents.

        At most two SQL statements; the queries must be locked.

        has_only_new_ratings: no pair has fewer raters than before, and no rating is gone. Otherwise, the revision of the queue is
        incremented; see `judging.judging_positions`.
        """
        pairs, parameters = of_documents(query_ids, doc_ids)
        with prepared_cursor() as cursor:
            cursor.execute(_UPDATE_LEVELS.format(pairs=pairs), parameters)
        if not has_only_new_ratings:
            JudgingQueue.objects.filter(book__queries__in=query_ids).increment_revision()


class JudgingPair(models.Model):
    """A document to judge for a query, with the run that stores the document.

    level: the number of raters who have given a grade or said that they cannot; empty once there are enough grades.
    key: the position among the pairs of one level, ascending.
    revision: of the query, when the key was computed; only for `JudgingQueue.Order.DIFFERENCE`, whose keys depend on the ratings.
    claimed_by, claimed_until: the rater who has the pair on the page. No other rater gets it before that time.
    """

    queue = models.ForeignKey(JudgingQueue, on_delete=models.CASCADE, related_name="pairs")
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="judging_pairs", db_index=False)
    doc_id = models.CharField("document id", max_length=500)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    rank = models.PositiveIntegerField(help_text="The best rank of the document in the runs of the queue.")
    key = models.FloatField()
    revision = models.PositiveBigIntegerField(null=True)
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


# Written by hand because every rating executes it, and building it took longer than executing it.
_PAIRS, _QUEUES = JudgingPair._meta.db_table, JudgingQueue._meta.db_table
_UPDATE_LEVELS = f"""
    UPDATE {_PAIRS} SET level = (
        SELECT CASE
            WHEN COUNT(DISTINCT CASE WHEN rating.verdict = '{Verdict.RATED}' THEN rating.rater_id END) < queue.ratings_per_pair
            THEN COUNT(DISTINCT CASE
                WHEN rating.verdict IN ('{Verdict.RATED}', '{Verdict.CANNOT}') THEN rating.rater_id
            END)
        END
        FROM {_QUEUES} queue
        LEFT JOIN {Rating._meta.db_table} rating
            ON rating.query_id = {_PAIRS}.query_id AND rating.doc_id = {_PAIRS}.doc_id
        WHERE queue.id = {_PAIRS}.queue_id
        GROUP BY queue.ratings_per_pair
    )
    WHERE {{pairs}}
"""


def _order_key(*columns: F | Value) -> Func:
    return Func(
        *columns, template="(%(expressions)s)", output_field=FloatField()
    )  # compared as a row; the type means nothing
