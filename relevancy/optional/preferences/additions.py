"""What the app adds to the core: links to its pages, and sentences of the activity log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.urls import reverse

from relevancy.hooks import Link, Place, activity_sentences, add_links, query_models
from relevancy.models import Book

from . import preferences
from .models import PreferenceQuery, PreferenceTest

if TYPE_CHECKING:
    from relevancy.views.compare.comparison_page import ComparisonPage

query_models.append(PreferenceQuery)
activity_sentences.update(
    {
        preferences.STARTED: "Started a blind test of {subject}; queries: {queries:,}",
        preferences.CLOSED: "Closed the blind test of {subject}",
        preferences.OPENED: "Opened the blind test of {subject} again",
    }
)


@add_links[Place.COMPARISON]
def comparison_links(page: ComparisonPage) -> Iterator[Link]:
    """Yields the link by which editors let raters compare the lists of the two runs, or see the result."""
    if page.access.can_edit and page.stored is not None:
        a, b = page.pair
        url = reverse("preference_new", args=[page.case.pk], query={"a": a.pk, "b": b.pk})
        yield Link("Let raters compare the lists", url, "preference-new-link")


@add_links[Place.BOOK]
def book_links(book: Book) -> Iterator[Link]:
    """Yields the link to the tests of a book."""
    url = reverse("preferences", args=[book.pk])
    yield Link("which of two runs raters prefer", url, "preferences-link", heading="Two lists")


@add_links[Place.JUDGE]
def judge_links(book: Book) -> Iterator[Link]:
    """Yields the link for raters, while there is an open test. One SQL statement."""
    if PreferenceTest.objects.of_book(book).open().exists():
        url = reverse("preferences", args=[book.pk])
        yield Link("Say which of two result lists is better", url, "preferences-link", heading="Two lists")
