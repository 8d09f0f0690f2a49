"""Ratings, how far those of one document differ, and the log of their changes."""

from collections.abc import Collection
from typing import Any, ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from .book import Query
from .statements import prepared_cursor
from .text import MultilineField


class Verdict(models.TextChoices):
    """A grade, or the reason why there is none."""

    RATED = "rated"
    CANNOT = "cannot", "cannot judge"
    LATER = "later"


class Rating(models.Model):
    """One rater's grade of one document for one query.

    is_adjudication: whether it is the decision of an adjudicator, which counts instead of all other ratings of the document.
    """

    query = models.ForeignKey(
        Query, on_delete=models.CASCADE, related_name="ratings", db_index=False
    )  # see constraints
    doc_id = models.CharField("document id", max_length=500)
    rater = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="ratings")
    verdict = models.CharField(max_length=10, choices=Verdict, default=Verdict.RATED)
    value = models.FloatField(null=True, blank=True)
    note = MultilineField(blank=True)
    is_adjudication = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(fields=("query", "doc_id", "rater"), name="rating_once_per_rater"),
            models.CheckConstraint(
                condition=Q(verdict=Verdict.RATED, value__isnull=False)
                | (~Q(verdict=Verdict.RATED) & Q(value__isnull=True)),
                name="rating_value_goes_with_verdict",
            ),
            models.CheckConstraint(condition=~Q(doc_id=""), name="rating_names_a_document"),
            models.UniqueConstraint(
                fields=("query", "doc_id"), condition=Q(is_adjudication=True), name="rating_adjudicated_once"
            ),
            models.CheckConstraint(
                condition=Q(is_adjudication=False) | Q(verdict=Verdict.RATED), name="rating_adjudication_has_a_grade"
            ),
        ]
        indexes = [
            models.Index(
                fields=("rater", "updated_at"), condition=Q(verdict=Verdict.LATER), name="rating_postponed_by_rater"
            )
        ]

    def __str__(self) -> str:
        return f"{self.doc_id}: {self.value if self.value is not None else self.verdict}"


class RatingSpreadQuerySet(models.QuerySet["RatingSpread"]):
    """Documents with several grades."""

    def refresh(
        self,
        query_ids: Collection[int],
        doc_ids: Collection[str] | None = None,
        *,
        has_only_new_ratings: bool = False,
    ) -> None:
        """Computes the rows of these queries again, or only those of some documents. Call it after their ratings have changed, in the
        same transaction; the queries must be locked.

        has_only_new_ratings: no document has fewer grades than before: one SQL statement, two otherwise.
        """
        where, parameters = of_documents(query_ids, doc_ids)
        with prepared_cursor() as cursor:
            if not has_only_new_ratings:
                cursor.execute(_DELETE_SPREADS.format(where=where), parameters)
            cursor.execute(_STORE_SPREADS.format(where=where), parameters)


class RatingSpread(models.Model):
    """How far the grades of a document by several raters are apart. A document with one grade has no row.

    spread: the difference between the highest and the lowest grade. count: how many there are. decisions: 1 if an adjudicator has
    decided about the document, 0 otherwise; the adjudicator's grade is not one of the others.

    A second copy of what the ratings say: finding these documents among a million ratings takes seconds. See docs/decisions/0051.
    """

    pk = models.CompositePrimaryKey("query", "doc_id")
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="rating_spreads", db_index=False)
    doc_id = models.CharField("document id", max_length=500)
    spread = models.FloatField()
    count = models.PositiveIntegerField()
    decisions = models.PositiveSmallIntegerField()

    objects: ClassVar = RatingSpreadQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.doc_id}: {self.count} ratings, {self.spread:g} apart"


def of_documents(query_ids: Collection[int], doc_ids: Collection[str] | None = None) -> tuple[str, list[int | str]]:
    """Returns an SQL condition for rows of these queries, or only those of some documents, and its parameters."""
    columns: dict[str, Collection[int | str]] = {"query_id": query_ids}
    if doc_ids is not None:
        columns["doc_id"] = doc_ids
    condition = " AND ".join([f"{name} IN ({', '.join(['%s'] * len(ids))})" for name, ids in columns.items()])
    return condition, [value for ids in columns.values() for value in ids]


# Written by hand because every rating executes them, and they insert what they select.
_RATINGS, _SPREADS = Rating._meta.db_table, RatingSpread._meta.db_table
_STORE_SPREADS = f"""
    INSERT INTO {_SPREADS} (query_id, doc_id, spread, count, decisions)
    SELECT
        query_id,
        doc_id,
        COALESCE(MAX(value) FILTER (WHERE NOT is_adjudication) - MIN(value) FILTER (WHERE NOT is_adjudication), 0),
        COUNT(*) FILTER (WHERE NOT is_adjudication),
        COUNT(*) FILTER (WHERE is_adjudication)
    FROM {_RATINGS}
    WHERE {{where}} AND verdict = '{Verdict.RATED}'
    GROUP BY query_id, doc_id
    HAVING COUNT(*) > 1
    ON CONFLICT (query_id, doc_id) DO UPDATE
        SET spread = EXCLUDED.spread, count = EXCLUDED.count, decisions = EXCLUDED.decisions
"""
_DELETE_SPREADS = f"""
    DELETE FROM {_SPREADS} WHERE {{where}} AND (
        SELECT COUNT(*) FROM {_RATINGS} rating
        WHERE rating.query_id = {_SPREADS}.query_id AND rating.doc_id = {_SPREADS}.doc_id AND rating.verdict = '{Verdict.RATED}'
    ) < 2
"""


class RatingChange(models.Model):
    """The append-only log: who changed whose rating, the old and the new value. `new_verdict` is empty if the rating was removed.

    What undoing a change needs is kept with it: the old note and the time of the old rating, which decides between raters.
    `undoes` is the change that this one took back. `rating_import` is the import that made it, by which it is undone if it fails.

    The database checks these foreign keys of the rating itself, which is stored in the same transaction; checking them for the log
    again took a fifth of the time of an import. `query` and `by` have an index below that begins with them; `rater` has none.
    """

    query = models.ForeignKey(
        Query, on_delete=models.CASCADE, related_name="rating_changes", db_index=False, db_constraint=False
    )
    doc_id = models.CharField("document id", max_length=500)
    rater = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="rating_changes",
        db_index=False,
        db_constraint=False,
    )
    source = models.CharField(
        max_length=20,
        default="page",
        help_text="page, undo, import, command, sample, api, copy, remap, adjudication, merge, move, or of an optional app",
    )
    old_verdict = models.CharField(max_length=10, blank=True)
    old_value = models.FloatField(null=True)
    new_verdict = models.CharField(max_length=10, blank=True)
    new_value = models.FloatField(null=True)
    old_note = MultilineField(blank=True)
    old_rated_at = models.DateTimeField(null=True)
    old_is_adjudication = models.BooleanField(default=False)
    new_is_adjudication = models.BooleanField(default=False)
    rating_import = models.ForeignKey(
        "RatingImport",
        null=True,
        on_delete=models.DO_NOTHING,
        related_name="changes",
        db_index=False,
        db_constraint=False,
    )
    undoes = models.ForeignKey(
        "self", null=True, on_delete=models.SET_NULL, related_name="undone_by", db_index=False
    )  # see constraints
    at = models.DateTimeField()

    class Meta:
        ordering = ("-id",)
        constraints = [
            models.UniqueConstraint(
                fields=("undoes",), condition=Q(undoes__isnull=False), name="rating_change_undone_once"
            )
        ]
        indexes = [
            models.Index(fields=("query", "doc_id", "at"), name="rating_change_of_document"),
            models.Index(fields=("by", "-id"), name="rating_change_newest_of_user"),
            models.Index(
                fields=("by", "-id"), condition=Q(source__in=["page", "undo"]), name="rating_change_judged_by_user"
            ),  # who has imported a million ratings has few of them
            models.Index(
                fields=("rating_import",), condition=Q(rating_import__isnull=False), name="rating_change_of_import"
            ),
        ]

    @classmethod
    def of(cls, old: Rating, **values: Any) -> Self:
        """Returns a change of a rating that there was; values: what is new, who changed it and when."""
        former = {"query_id": old.query_id, "doc_id": old.doc_id, "rater_id": old.rater_id}
        former |= {f"old_{name}": getattr(old, name) for name in ("verdict", "value", "note", "is_adjudication")}
        return cls(**{**former, "old_rated_at": old.updated_at, **values})

    def __str__(self) -> str:
        return f"{self.doc_id}: {self.old_value} → {self.new_value}"
