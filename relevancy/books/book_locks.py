"""The lock of a book whose ratings are changed all at once, and what must not be going on then."""

from relevancy import hooks, ratings, scores
from relevancy.models import Book


def lock_book(book: Book) -> None:
    """Locks the book, so that it gets no new queries, and its queries, so that nothing is rated; reads its settings again.

    Raises `RatingRefused` while ratings are being imported into it.
    """
    Book.objects.select_for_update().filter(pk=book.pk).values_list("pk").first()
    scores.lock_queries(book.queries.values_list("pk", flat=True))
    ratings.check_open(book=book.pk, advice="Try")
    book.refresh_settings()


def check_unused(book: Book) -> None:
    """Raises `ValidationError` while an import or an optional app is about to write grades of the book's present scale."""
    ratings.check_open(book=book.pk, advice="Try")
    hooks.check_unused(book)
