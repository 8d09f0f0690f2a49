"""What the app adds to the core: a link on the page of a book, and a sentence of the activity log."""

from collections.abc import Iterator

from django.urls import reverse

from relevancy.hooks import Link, Place, activity_sentences, add_links, help_pages, unattended_sources
from relevancy.models import Book

from . import moves

unattended_sources.append(moves.SOURCE)
activity_sentences[moves.MOVED] = "Moved ratings in the book “{subject}” to other document ids: {count:,}"
help_pages["books/<int:book_id>/moves/"] = "moves"


@add_links[Place.BOOK_SOURCES]
def book_links(book: Book) -> Iterator[Link]:
    """Yields the link to the documents of a book whose ids have changed, for its editors."""
    if book.is_editable:
        yield Link("Changed ids", reverse("book_moves", args=[book.pk]), "move-ratings")
