"""Deleting a book for good, in short transactions, because on SQLite raters of other books wait for each of them."""

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count

from relevancy import activity, ratings
from relevancy.models import Activity, Book, Rating, RatingImport, User
from relevancy.ratings.imports import undo_import
from relevancy.wording import counted


def book_losses(book: Book) -> dict[str, int]:
    """Returns how many `queries`, `ratings` ("cannot judge" and "later" included) and `raters` would be lost with a book. Two SQL
    statements."""
    counts: dict[str, int] = Rating.objects.filter(query__book=book).aggregate(
        ratings=Count("pk"), raters=Count("rater", distinct=True)
    )
    return counts | {"queries": book.queries.live().count()}


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
