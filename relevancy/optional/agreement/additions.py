"""What the app adds to the core: links on the page of a book and on that of a rater."""

from collections.abc import Iterator

from django.urls import reverse

from relevancy.hooks import BookRater, Link, Panel, Place, add_links, add_panel
from relevancy.models import Book


@add_links[Place.BOOK]
def book_links(book: Book) -> Iterator[Link]:
    """Yields the link to the figures of a book."""
    yield Link("how far they agree", reverse("book_agreement", args=[book.pk]), "agreement-link", heading="Raters")


@add_panel[Place.RATER]
def rater_panel(shown: BookRater) -> Panel:
    """Returns the link to the scores by the ratings of one rater."""
    return Panel("agreement/_rater_panel.html", {"book": shown.book, "rater": shown.rater})
