"""The lock of a book whose ratings are changed all at once, and what must not be going on then."""

from django.core.exceptions import ValidationError

from relevancy import hooks, scores
from relevancy.models import Book, ImportedRating, RatingImport
from relevancy.ratings.imported_rows import move_queries


def lock_book(book: Book) -> None:
    """Locks the book, so that it gets no new queries, and its queries, so that nothing is rated; reads its settings again.

    What was imported and counts becomes rows of `Rating`; after `finish_imports`, that is little or nothing.
    """
    Book.objects.select_for_update().filter(pk=book.pk).values_list("pk").first()
    scores.lock_queries(book.queries.values_list("pk", flat=True))
    imported = ImportedRating.objects.applied().filter(query__book=book).order_by()
    move_queries(sorted(imported.values_list("query_id", flat=True).distinct()))
    book.refresh_settings()


def check_unused(book: Book) -> None:
    """Raises `ValidationError` while an import or an optional app is about to write grades of the book's present scale."""
    if RatingImport.objects.filter(book=book, applied_at=None, is_discarded=False).exists():
        raise ValidationError(f"Ratings are being imported into “{book}”. Try again when the import has finished.")
    hooks.check_unused(book)
