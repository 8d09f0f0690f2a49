"""Deleting a book for good, in short transactions, because on SQLite raters of other books wait for each of them."""

from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count

from relevancy import activity, ratings
from relevancy.models import Activity, Book, Rating, RatingImport, User
from relevancy.ratings.imports import undo_import
from relevancy.wording import counted


@dataclass(frozen=True)
class BookLosses:
    """What is lost with a book. ratings: of all raters, "cannot judge" and "later" included. raters: how many rated."""

    queries: int
    ratings: int
    raters: int


def book_losses(book: Book) -> BookLosses:
    """Returns what would be lost with a book. Two SQL statements."""
    counts = Rating.objects.filter(query__book=book).aggregate(
        ratings=Count("pk"), raters=Count("rater", distinct=True)
    )
    return BookLosses(queries=book.queries.live().count(), **counts)


def delete_book(*, book: Book, by: User) -> None:
    """Deletes a book that no case uses, with its queries and everybody's ratings.

    It is hidden at once. If the process dies before all is deleted, `sweep_imports` goes on. Raises `ValidationError` if a case uses
    the book, and while ratings are being imported into it; then nothing is deleted.
    """
    with transaction.atomic():
        Book.objects.select_for_update().get(pk=book.pk)
        if count := book.cases.count():
            raise ValidationError(
                f"{counted(count, 'case')} {'uses' if count == 1 else 'use'} the book “{book}”, archived ones included. "
                "Delete a case first, then the book."
            )
        teams = list(book.teams.all())
        activity.record_for_teams(Activity.Verb.BOOK_DELETED, teams=teams, by=by, subject=book.name, object_id=book.pk)
        ratings.check_open(book=book.pk, advice="Delete it")
        record = RatingImport.objects.create(book=book, by=by, source="deletion", is_first=True)
    undo_import(record)
