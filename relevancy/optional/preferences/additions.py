"""What the app adds to the core: what raters prefer, below the verdict of a comparison, links to its pages, and activity sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.urls import reverse

from relevancy.hooks import (
    ComparisonTab,
    Link,
    Panel,
    Place,
    Work,
    activity_sentences,
    add_links,
    add_panel,
    comparison_tabs,
    help_pages,
    query_models,
    work,
)
from relevancy.models import Book, User
from relevancy.wording import counted

from . import preferences
from .models import PreferenceQuery, PreferenceTest
from .sentences import progress_sentence, result_details, result_sentence

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
help_pages |= {
    "books/<int:book_id>/preferences/": "judging#which-list-is-better",
    "cases/<int:case_id>/compare/preferences/": "judging#which-list-is-better",
}


def _raters_context(page: ComparisonPage) -> dict[str, object]:
    """Returns which list raters prefer, and how far they are; raters see only the latter before a test is closed. Empty without a
    test. Six SQL statements with a test of the two runs, one without."""
    test = preferences.find_preference_test(*page.pair) if page.stored is not None else None
    if test is None:
        return {}
    result = preferences.measure_preferences(test)
    names = page.pair_names if test.run_a_id == page.pair[0].pk else page.pair_names[::-1]
    is_blind = test.closed_at is None and page.access.can_rate and not page.access.can_edit
    return {
        "result_url": "" if is_blind else reverse("preference_result", args=[page.case.book_id, test.pk]),
        "sentence": "" if is_blind else result_sentence(result, names),
        "details": [] if is_blind else result_details(test, result),
        "progress": progress_sentence(test, result),
    }


@add_panel[Place.COMPARISON]
def raters_panel(page: ComparisonPage) -> Panel | None:
    """Returns below the verdict which list raters prefer; nothing without a test."""
    context = _raters_context(page)
    return Panel("preferences/_comparison.html", context) if context else None


@comparison_tabs.add
def raters_tab(page: ComparisonPage) -> ComparisonTab:
    """Returns the tab with what raters prefer, or the link by which editors ask them."""

    def panel() -> Panel:
        return Panel("preferences/_tab.html", {**_raters_context(page), "new_links": list(comparison_links(page))})

    return ComparisonTab("raters", "Raters’ preference", panel)


@add_links[Place.COMPARISON]
def comparison_links(page: ComparisonPage) -> Iterator[Link]:
    """Yields the link by which editors let raters compare the lists of the two runs, until there is a test of them."""
    if page.access.can_edit and page.stored is not None and preferences.find_preference_test(*page.pair) is None:
        a, b = page.pair
        url = reverse("preference_new", args=[page.case.pk], query={"a": a.pk, "b": b.pk})
        yield Link("Let raters compare the lists", url, "preference-new-link")


@add_links[Place.BOOK_SOURCES]
def book_links(book: Book) -> Iterator[Link]:
    """Yields the link to the tests of a book."""
    yield Link("Preference tests", reverse("preferences", args=[book.pk]), "preferences-link")


@work.add
def lists_to_compare(user: User) -> Iterator[Work]:
    """Yields the open tests that the user can answer. One SQL statement, and three per test."""
    books = Book.objects.rateable_by(user).values("pk")
    tests = PreferenceTest.objects.open().filter(run_b__case__book__in=books).select_related("run_b__case__book")
    for test in tests:
        progress = preferences.preference_progress(test=test, by=user)
        if progress.left:
            book = test.run_b.case.book
            yield Work(
                title="Which list is better?",
                text=f"{counted(progress.left, 'query', 'queries')} to judge of {progress.pairs:,} · {book}",
                url=reverse("preference", args=[book.pk, test.pk]),
                id=f"work-preference-{test.pk}",
                button="Compare",
                done=progress.done,
                total=progress.pairs,
            )


@add_links[Place.JUDGE]
def judge_links(book: Book) -> Iterator[Link]:
    """Yields the link for raters, while there is an open test. One SQL statement."""
    if PreferenceTest.objects.of_book(book).open().exists():
        url = reverse("preferences", args=[book.pk])
        yield Link("Compare two result lists", url, "preferences-link", heading="Which list is better?")
