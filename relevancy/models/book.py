"""Judgment lists: queries and their ratings on one rating scale."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from django.conf import settings
from django.core.validators import MaxLengthValidator
from django.db import models
from django.utils import timezone

from .access import SharedModel, SharedQuerySet
from .lookups import find_ids  # registers the lookups `has_element` and `among` as well
from .statements import prepared_cursor
from .team import Membership, Role, Team
from .text import LineField, MultilineField

if TYPE_CHECKING:
    from .case import Case
    from .rating_import import RatingImport
    from .user import User


class BookQuerySet(SharedQuerySet["Book"]):
    """Books. A role on a case gives a role on its book, at most that of a rater."""

    def with_role(self, user: User) -> Self:
        """Annotates `role`, and leaves out books that an import is still creating: a part of a file must not be visible."""
        imports = cast("type[RatingImport]", self.model._meta.get_field("rating_imports").related_model)
        creating = imports.objects.filter(book=models.OuterRef("pk"), is_first=True)
        return super().with_role(user).filter(~models.Exists(creating))

    def hides_grades(self, book_id: int, user: User) -> bool:
        """Returns whether a book hides the grades of others from the user until the user has judged the document. One SQL statement.

        Those are books with blind raters in which the user is a rater, unless the user edits one of their cases: books whose owner and
        whose cases' owners are others, and of which, or of one of whose cases, the user's highest role in a team is that of a rater.
        """
        if user.is_superuser:
            return False
        case = cast("type[Case]", self.model._meta.get_field("cases").related_model)
        # Written by hand because every rating reads it, and building the QuerySets took a tenth of the request.
        with prepared_cursor() as cursor:
            cursor.execute(
                f"""
                SELECT 1 FROM {self.model._meta.db_table} book
                WHERE book.id = %(book)s AND book.raters_are_blind AND book.owner_id <> %(user)s
                AND NOT EXISTS (SELECT 1 FROM {case._meta.db_table} WHERE book_id = book.id AND owner_id = %(user)s)
                AND %(rater)s = (
                    SELECT MAX(member.role) FROM {Membership._meta.db_table} member WHERE member.user_id = %(user)s
                    AND member.team_id IN (
                        SELECT team_id FROM {self.model.teams.through._meta.db_table} WHERE book_id = book.id
                        UNION ALL SELECT shared.team_id FROM {case._meta.db_table} of_book
                        JOIN {case.teams.through._meta.db_table} shared ON shared.case_id = of_book.id
                        WHERE of_book.book_id = book.id
                    )
                )
                """,
                {"book": book_id, "user": user.pk, "rater": int(Role.RATER)},
            )
            return cursor.fetchone() is not None

    def _role_in_teams(self, user: User, path: str = "") -> models.Expression:
        own = super()._role_in_teams(user, path)
        case = cast("type[Case]", self.model._meta.get_field("cases").related_model)
        # An editor of a case is only a rater of its book: changing the book requires a role on the book itself.
        cases: models.QuerySet[Any] = case.objects.with_role(user).filter(book=models.OuterRef(f"{path}pk"))
        rater_role = models.functions.Least("role", models.Value(int(Role.RATER)))
        by_case = cases.order_by("-role").values(rater_role=rater_role)[:1]
        return models.functions.Greatest(
            own, models.functions.Coalesce(models.Subquery(by_case, output_field=models.IntegerField()), 0)
        )


class Book(SharedModel):
    """A judgment list: queries, their ratings on one scale, and the rule that combines ratings of several raters.

    The label of a rule is what counts of several ratings of a document.
    """

    class Rule(models.TextChoices):
        LATEST = "latest", "the latest rating"
        MEAN = "mean", "the mean of all ratings"
        MEDIAN = "median", "the median of all ratings"
        MAJORITY = "majority", "the grade that most raters gave"
        LOWEST_OF_THREE = "lowest_of_three", "the lowest of the three highest ratings"
        QUEPID = "quepid", "the mean of up to two ratings, of more the lowest of the three highest"

    name = LineField(max_length=191)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="books")
    teams = models.ManyToManyField(Team, blank=True, related_name="books")
    scale = models.JSONField(help_text="The grades with their labels, ascending: [[1, ''], [2, ''], …]")
    relevant_from = models.FloatField(help_text="The lowest grade that counts as relevant.")
    rule = models.CharField(max_length=20, choices=Rule, default=Rule.LATEST)
    guidelines = MultilineField(
        blank=True, validators=[MaxLengthValidator(20_000)], help_text="What each grade means, in Markdown; for raters."
    )
    raters_are_blind = models.BooleanField(
        "raters judge blind",
        default=True,
        help_text="Raters see the grades of others only after they have rated a document themselves.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    remapped_at = models.DateTimeField(
        null=True,
        editable=False,
        help_text="When all ratings last got grades of another scale. Earlier changes of ratings cannot be undone.",
    )
    rescore_queued_at = models.DateTimeField(
        null=True, editable=False, help_text="When a background task was enqueued that rescores its cases."
    )

    objects: ClassVar = BookQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        constraints = [
            models.CheckConstraint(
                condition=models.Q(rule__in=["latest", "mean", "median", "majority", "lowest_of_three", "quepid"]),
                name="book_rule_known",
            )
        ]

    def __str__(self) -> str:
        return self.name

    def refresh_settings(self) -> None:
        """Reads again what grades depend on. Call it after reading or locking the queries, whose revisions a change increments."""
        self.refresh_from_db(fields=["scale", "relevant_from", "rule", "remapped_at"])

    @property
    def scale_key(self) -> str:
        """A short text that is another one after each change of the scale, its labels, or the grades of all ratings."""
        content = json.dumps([self.scale, self.remapped_at.isoformat() if self.remapped_at else ""])
        return hashlib.blake2b(content.encode(), digest_size=8).hexdigest()

    @property
    def grades(self) -> tuple[float, ...]:
        """The values of the scale, ascending."""
        return tuple([value for value, _ in self.scale])

    @property
    def lowest(self) -> float:
        return float(self.scale[0][0])

    @property
    def top(self) -> float:
        return float(self.scale[-1][0])


class QueryLink(models.Model):
    """Variants of one query, such as "star treck" and "star trek": they count once in tests and intervals."""

    book = models.ForeignKey(Book, on_delete=models.CASCADE, related_name="query_links")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"Linked queries {self.pk}"


class QueryQuerySet(models.QuerySet["Query"]):
    """Queries of books."""

    def increment_revision(self, query: Query) -> bool:
        """Increments the revision of a locked query whose ratings change. Reads what grades depend on of its book by the same
        statement; see `Book.refresh_settings`. Returns whether ratings are being imported into the book."""
        book, columns = Book._meta.db_table, ("scale", "relevant_from", "rule", "remapped_at")
        settings_of_book = ", ".join([f"(SELECT {column} FROM {book} WHERE id = book_id)" for column in columns])
        imports = cast("type[RatingImport]", Book._meta.get_field("rating_imports").related_model)
        unfinished = f"SELECT 1 FROM {imports._meta.db_table} record WHERE record.book_id = relevancy_query.book_id"
        statuses = ", ".join([f"'{status}'" for status in imports.UNFINISHED])
        with prepared_cursor() as cursor:
            cursor.execute(
                f"UPDATE relevancy_query SET revision = revision + 1 WHERE id = %s RETURNING revision, {settings_of_book}, "
                f"EXISTS ({unfinished} AND record.status IN ({statuses}))",
                [query.pk],
            )
            query.revision, scale, query.book.relevant_from, query.book.rule, remapped_at, is_closed = cursor.fetchone()
        query.book.scale = json.loads(scale)
        if remapped_at is not None and timezone.is_naive(
            remapped_at
        ):  # a cursor of SQLite returns UTC without saying so
            remapped_at = remapped_at.replace(tzinfo=UTC)
        query.book.remapped_at = remapped_at
        return bool(is_closed)

    def live(self) -> Self:
        """Excludes retired queries."""
        return self.filter(retired_at=None)

    def ids_by_key(self, book_id: int, keys: Sequence[str]) -> dict[str, int]:
        """Returns `{text key: id}` of the queries of a book that have one of these keys; see `find_ids`. One SQL statement."""
        return dict(find_ids(Query, "book_id", book_id, "text_key", keys))


class Query(models.Model):
    """The text that a user searched for. `revision` is incremented by every change to the query's ratings; a score stores the
    revision it was computed from.

    reference_answer: what a good answer to the query says, for raters and query templates.
    """

    id = models.AutoField(primary_key=True)  # four bytes in each ranking and score
    # `query_once_per_book` leads from a book to its queries.
    book = models.ForeignKey(Book, on_delete=models.CASCADE, related_name="queries", db_index=False)
    text = models.CharField(max_length=2048)
    text_key = models.CharField(max_length=64, editable=False, help_text="SHA-256 of the text: what makes it unique")
    information_need = MultilineField(blank=True, validators=[MaxLengthValidator(5_000)])
    reference_answer = MultilineField(blank=True, validators=[MaxLengthValidator(10_000)])
    notes = MultilineField(blank=True, validators=[MaxLengthValidator(20_000)])
    tags = models.JSONField(default=list, blank=True)
    link = models.ForeignKey(QueryLink, null=True, blank=True, on_delete=models.SET_NULL, related_name="queries")
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
