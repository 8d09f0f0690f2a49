"""Imports of ratings that take longer than one transaction.

See docs/decisions/0060.
"""

from __future__ import annotations

from typing import ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from .book import Book
from .case import Case


class RatingImportQuerySet(models.QuerySet["RatingImport"]):
    """Imports of ratings."""

    def unfinished(self) -> Self:
        """Those that close their book: nobody else can rate in it."""
        return self.filter(status__in=RatingImport.UNFINISHED)

    def last_of(self, book_id: int) -> RatingImport | None:
        """Returns the newest one of a book, whether it is finished or not. One SQL statement."""
        newest: RatingImport | None = self.filter(book=book_id).select_related("by").order_by("-pk").first()
        return newest


class RatingImport(models.Model):
    """An import that stores its ratings in many transactions, and closes the book meanwhile.

    case: gets the queries of the file.
    is_first: the book is being created by an import, or deleted: it is hidden, and the row is deleted at the end.
    done, total: ratings of the file that were compared, and all of them. changed: how many of them were new or had another grade.
    queries: of the file, if there are so many that they are created in parts; `done` counts them twice. 0 otherwise.
    progressed_at: of the last transaction. A process that has not written for long has died.
    error: why it failed; nothing of it is left then. format: of the file that waits for a worker.
    new_raters: ids of the raters that were created for it, who cannot sign in; deleted with it if they have rated nothing.
    """

    class Status(models.TextChoices):
        WAITING = "waiting", "waiting for a worker"
        RUNNING = "running", "running"
        UNDOING = "undoing", "being undone"
        COMPLETE = "complete", "complete"
        FAILED = "failed", "failed"

    UNFINISHED = (Status.WAITING, Status.RUNNING, Status.UNDOING)

    book = models.ForeignKey(Book, on_delete=models.CASCADE, related_name="rating_imports")
    case = models.ForeignKey(Case, null=True, on_delete=models.SET_NULL, related_name="+")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    source = models.CharField(max_length=20)
    format = models.CharField(max_length=20, blank=True)
    status = models.CharField(max_length=10, choices=Status, default=Status.RUNNING)
    total = models.PositiveIntegerField(default=0)
    queries = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    changed = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)
    is_first = models.BooleanField(default=False)
    new_raters = models.JSONField(default=list)
    started_at = models.DateTimeField(auto_now_add=True)
    progressed_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar = RatingImportQuerySet.as_manager()

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(
                fields=("book",),
                condition=Q(status__in=["waiting", "running", "undoing"]),
                name="rating_import_once_per_book",
            )
        ]

    def __str__(self) -> str:
        return f"Import into {self.book}"

    @property
    def is_finished(self) -> bool:
        return self.status not in self.UNFINISHED

    @property
    def percent(self) -> int:
        """How much of it is done, in whole per cent."""
        return 100 * self.done // self.steps if self.steps else 0

    @property
    def steps(self) -> int:
        """What `done` is at the end: a rating is one step, a query is two, made in the book and added to the case."""
        return self.total + 2 * self.queries
