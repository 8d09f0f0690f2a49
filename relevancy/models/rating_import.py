"""Imports of ratings: written in short transactions, and seen all at once.

See docs/decisions/0060.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from django.conf import settings
from django.db import connection, models
from django.db.models import Count, Exists, ExpressionWrapper, F, Max, OuterRef, Value

from .book import Book, Query
from .rating import Rating, Verdict
from .raw_rows import in_utc
from .user import User


class RatingImport(models.Model):
    """An import that has not finished. Its row is deleted when the last of its ratings is a `Rating`.

    applied_at: since when its ratings count, and the time that they get; None while they are being written.
    progressed_at: of the last transaction. A process that has not written for long has died.
    is_first: the book was created for it, or is being deleted: it is hidden, and deleted when this is discarded.
    is_discarded: nothing more is written to it; its ratings are being deleted.
    new_raters: ids of the raters that were created for it, who cannot sign in; deleted with it if they have rated nothing.
    """

    book = models.ForeignKey(Book, on_delete=models.CASCADE, related_name="rating_imports")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    source = models.CharField(max_length=20)
    progressed_at = models.DateTimeField()
    applied_at = models.DateTimeField(null=True)
    is_first = models.BooleanField(default=False)
    is_discarded = models.BooleanField(default=False)
    new_raters = models.JSONField(default=list)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"Import into {self.book}"


class ImportedRatingQuerySet(models.QuerySet["ImportedRating"]):
    """Ratings that are not a `Rating` yet."""

    def applied(self) -> Self:
        """Those that count."""
        return self.filter(rating_import__applied_at__isnull=False)

    def of_rater(self, rater: Any) -> Self:
        """Those that count for a query and a document of the outer query, given by `rater`: a user, or an `OuterRef`."""
        return self.applied().filter(query=OuterRef("query"), doc_id=OuterRef("doc_id"), rater=rater)


class ImportedRating(models.Model):
    """A change of an import that is not a `Rating` yet. Once the import is applied, it replaces the rating that the rater had.

    `current_ratings` reads these with the others. A change of the ratings of a query makes them ratings first.

    The database does not check the foreign keys, which costs as much as writing the rows: every transaction of an import updates its
    row of `RatingImport` (`note_progress`), and the one that applies it locks queries and raters and fails if one is gone. The rows
    of an import follow each other, so they have no index of their own: they are read in the order of their ids.
    """

    rating_import = models.ForeignKey(
        RatingImport, on_delete=models.CASCADE, related_name="ratings", db_index=False, db_constraint=False
    )
    query = models.ForeignKey(
        Query, on_delete=models.CASCADE, related_name="imported_ratings", db_index=False, db_constraint=False
    )
    doc_id = models.CharField("document id", max_length=500)
    rater = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    value = models.FloatField()

    objects: ClassVar = ImportedRatingQuerySet.as_manager()

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(
                fields=("query", "doc_id", "rater", "rating_import"), name="imported_rating_once_per_rater"
            )
        ]

    def __str__(self) -> str:
        return f"{self.doc_id}: {self.value}"


UNMOVED = -(2**62)  # plus its id: the id of a rating that is only an `ImportedRating`, in the order of the file
# The time of a rating as the driver returns it, from SQLite without a time zone: only to be compared with others of the same statement.
# Adding the time zone takes a sixth of the time of an export.
MOMENT = "moment"
_COLUMNS_OF_RATINGS: dict[str, Any] = {MOMENT: ExpressionWrapper(F("updated_at"), models.TextField())}
_COLUMNS_OF_IMPORTS: dict[str, Any] = {
    MOMENT: ExpressionWrapper(F("rating_import__applied_at"), models.TextField()),
    "id": F("id") + Value(UNMOVED),
    "verdict": Value(Verdict.RATED.value),
    "note": Value(""),
    "updated_at": "rating_import__applied_at",
    "is_adjudication": Value(False, output_field=models.BooleanField()),
}


def stored_ratings() -> models.QuerySet[Rating]:
    """Returns the rows of `Rating` that count: without those that an import has replaced already."""
    applied = RatingImport.objects.filter(applied_at__isnull=False)  # usually none: then no rating is looked up
    replaced = ImportedRating.objects.of_rater(OuterRef("rater"))
    return Rating.objects.filter(~Exists(applied) | ~Exists(replaced))


def current_ratings(columns: Sequence[str], **lookups: Any) -> models.QuerySet[Any, Any]:
    """Returns rows with these columns of all ratings that count, those of imports included, in no order.

    One SQL statement, so that an import is seen as a whole or not at all. Those that are not yet a `Rating` have a negative id
    and no note. The column `MOMENT` is the time of a rating, only to be compared with others of the same statement. lookups: of
    queries and raters, such as `query_id__in` and `rater`.
    """
    stored = stored_ratings().filter(**lookups).order_by()
    applied = ImportedRating.objects.applied().filter(**lookups).order_by()
    of_ratings = [_COLUMNS_OF_RATINGS.get(column, column) for column in columns]
    return stored.values_list(*of_ratings).union(applied.values_list(*_of_imports(columns)), all=True).order_by()


def read_query_ratings(query_id: int) -> list[tuple[Any, ...]]:
    """Reads the ratings that count for one query: `(id, query's id, document, rater's id, name, address, verdict, grade, note, time,
    whether it is an adjudication)`."""
    with connection.cursor() as cursor:
        cursor.execute(_QUERY_RATINGS, [query_id, query_id])
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return [(*columns, in_utc(updated_at), bool(decides)) for *columns, updated_at, decides in rows]


# Written by hand because every rating reads it: building the statement took five times as long as executing it.
_REPLACED = f"""
    SELECT 1 FROM {ImportedRating._meta.db_table} imported
    JOIN {RatingImport._meta.db_table} origin ON origin.id = imported.rating_import_id
    WHERE origin.applied_at IS NOT NULL AND imported.query_id = stored.query_id AND imported.doc_id = stored.doc_id
        AND imported.rater_id = stored.rater_id
"""
_QUERY_RATINGS = f"""
    SELECT stored.id, stored.query_id, stored.doc_id, stored.rater_id, rater.name, rater.email, stored.verdict, stored.value,
        stored.note, stored.updated_at, stored.is_adjudication
    FROM {Rating._meta.db_table} stored
    JOIN {User._meta.db_table} rater ON rater.id = stored.rater_id
    WHERE stored.query_id = %s AND NOT EXISTS ({_REPLACED})
    UNION ALL
    SELECT imported.id + {UNMOVED}, imported.query_id, imported.doc_id, imported.rater_id, rater.name, rater.email,
        '{Verdict.RATED.value}', imported.value, '', origin.applied_at, FALSE
    FROM {ImportedRating._meta.db_table} imported
    JOIN {RatingImport._meta.db_table} origin ON origin.id = imported.rating_import_id
    JOIN {User._meta.db_table} rater ON rater.id = imported.rater_id
    WHERE imported.query_id = %s AND origin.applied_at IS NOT NULL
"""


def count_current_ratings(columns: Sequence[str], **lookups: Any) -> models.QuerySet[Any, Any]:
    """Returns the number of ratings that count, and the time of the newest, for each combination of the columns: `(column, …, number,
    time)`. A combination may be in two rows, whose numbers the caller adds. One SQL statement, as for `current_ratings`."""
    stored = stored_ratings().filter(**lookups).order_by().values_list(*columns)
    applied = ImportedRating.objects.applied().filter(**lookups).order_by().values_list(*_of_imports(columns))
    return (
        stored.annotate(Count("pk"), Max("updated_at"))
        .union(applied.annotate(Count("pk"), Max("rating_import__applied_at")), all=True)
        .order_by()
    )


def _of_imports(columns: Sequence[str]) -> list[Any]:
    return [_COLUMNS_OF_IMPORTS.get(column, column) for column in columns]
