"""What the app adds to the core: links to its pages, and sentences of the activity log."""

from collections.abc import Iterator

from django.urls import reverse

from relevancy.hooks import (
    BookRater,
    Link,
    Place,
    activity_sentences,
    add_links,
    help_pages,
    parts_of_book,
    query_pages,
)
from relevancy.models import Book

from . import click_logs, counting, weights

parts_of_book.append("clicks")
query_pages["query_log"] = "Search log"
activity_sentences.update(
    {
        counting.COUNTED: "Let grades from clicks count in the book “{subject}”: {count:,} ratings",
        counting.WITHDRAWN: "Removed the ratings from clicks from the book “{subject}”: {count:,}",
        weights.WEIGHTED: "Added a sample of queries: {count:,} new, {reweighted:,} with another weight; others count: {others}",
    }
)
help_pages |= {
    "books/<int:book_id>/clicks/": "clicks",
    "cases/<int:case_id>/files/query-log/": "search-logs",
}


@add_links[Place.BOOK_SOURCES]
def book_links(book: Book) -> Iterator[Link]:
    """Yields the link to the clicks of a book."""
    yield Link("Clicks", reverse("book_clicks", args=[book.pk]), "clicks-link")


@add_links[Place.RATER]
def rater_links(shown: BookRater) -> Iterator[Link]:
    """Yields the link to where the ratings by clicks were accepted."""
    if shown.rater.name == click_logs.RATER:
        yield Link("Clicks", reverse("book_clicks", args=[shown.book.pk]), "clicks-link")
