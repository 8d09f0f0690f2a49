"""Files of large cases, runs and books, which a worker makes."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q

from .book import Book
from .case import Case
from .run import Run


class StoredExport(models.Model):
    """A file of a large case, run or book, which a worker makes for one user and which is deleted a day later.

    case, run, book: what it is of; the others are empty. name: of the file among those that a case, run or book has.
    key: what, which file and for whom, so that asking twice does not make two.
    claimed_by: the token of the worker that makes it or has made it, which the file on the disk is named after.
    worker_restarts: how many workers in a row stopped unexpectedly.
    done, total: of its queries or rankings. error: why it failed.
    progressed_at: when it was last asked for, or its worker last wrote.
    """

    class Status(models.TextChoices):
        WAITING = "waiting", "waiting for a worker"
        RUNNING = "running", "being made"
        COMPLETE = "complete", "complete"
        FAILED = "failed", "failed"

    UNFINISHED = (Status.WAITING, Status.RUNNING)

    case = models.ForeignKey(Case, null=True, on_delete=models.CASCADE, related_name="+")
    run = models.ForeignKey(Run, null=True, on_delete=models.CASCADE, related_name="+")
    book = models.ForeignKey(Book, null=True, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=40)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=120, unique=True)
    status = models.CharField(max_length=10, choices=Status, default=Status.WAITING)
    claimed_by = models.CharField(max_length=32, blank=True)
    worker_restarts = models.PositiveSmallIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)
    started_at = models.DateTimeField(null=True)
    progressed_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = [
            models.CheckConstraint(
                condition=Q(case__isnull=False, run=None, book=None)
                | Q(case=None, run__isnull=False, book=None)
                | Q(case=None, run=None, book__isnull=False),
                name="stored_export_of_one",
            )
        ]

    def __str__(self) -> str:
        return f"File {self.name} of {self.row}"

    @property
    def row(self) -> Case | Run | Book:
        """What it is of."""
        row = self.case or self.run or self.book
        assert row is not None
        return row

    @property
    def is_finished(self) -> bool:
        return self.status not in self.UNFINISHED

    @property
    def percent(self) -> int:
        """How much of it is done, in whole per cent."""
        return min(100 * self.done // self.total, 100) if self.total else 0

    def per_second(self, now: datetime) -> float | None:
        """Returns how many of `total` are done a second; None while nothing is, or if it was begun less than a second ago."""
        seconds = (now - self.started_at).total_seconds() if self.started_at and not self.is_finished else 0.0
        return self.done / seconds if seconds >= 1 and self.done else None
