"""The tabs of a case and of a book, with the pages of each: every page that belongs to one of them is in one of its tabs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from relevancy.hooks import Link, Place, ShownRun, links_at
from relevancy.models import Book, Case


@dataclass(frozen=True)
class Tab:
    """A tab. pages: at least one; the tab leads to the first. current: the one that is shown; None in the other tabs."""

    label: str
    id: str
    pages: tuple[Link, ...]
    current: Link | None = None


def tabs_of(context: dict[str, Any], shown: Case | Book, shown_run: ShownRun | None = None) -> list[Tab]:
    """Returns the tabs for the page of a request: `{% tabs_of case selection.shown_run as tabs %}`.

    shown: with the user's role. shown_run: the run that links from here keep. The page that is shown is the one whose address is the
    longest beginning of the path of the request, or of `tab_path` in the context, so that an address below it belongs to it. The SQL is
    that of the links of apps.
    """
    found = case_tabs(shown, shown_run) if isinstance(shown, Case) else book_tabs(shown)
    tabs = [(label, tab_id, pages) for label, tab_id, links in found if (pages := tuple(links))]
    path = context.get("tab_path") or context["request"].path
    current = max(
        (page for _, _, pages in tabs for page in pages if path.startswith(_path(page))),
        key=lambda page: len(_path(page)),
        default=None,
    )
    return [Tab(label, tab_id, pages, current if current in pages else None) for label, tab_id, pages in tabs]


def case_tabs(case: Case, shown_run: ShownRun | None) -> Iterator[tuple[str, str, Iterable[Link]]]:
    """Yields label, id and pages of each tab of a case."""
    shown_run = shown_run or ShownRun(case)
    query = {"run": shown_run.number} if shown_run.number else None

    def page(label: str, name: str, **options: Any) -> Link:
        return Link(label, reverse(name, args=[case.pk], **options), f"{name.replace('_', '-')}-link")

    yield "Queries", "queries-tab", [page("Queries", "case")]
    yield "Compare", "compare-tab", [page("Runs", "compare", query=query), *links_at(Place.CASE_COMPARE, case)]
    history = [page("Runs", "history"), page("Attempts", "attempt_list"), page("Annotations", "annotations")]
    yield "History", "history-tab", [*history, *links_at(Place.CASE_HISTORY, case)]
    for link in links_at(Place.CASE_TABS, shown_run):
        yield link.label, link.id, [link]
    settings = [page("Sharing", "case_share")] if case.is_owned else []
    settings += [
        *links_at(Place.CASE_SETTINGS, case),
        page("Scorers", "case_scorers"),
        page("Linked queries", "query_links"),
        page("Files", "case_files"),
    ]
    yield "Settings", "settings-tab", [*settings, *([page("Delete", "case_delete")] if case.is_owned else [])]


def book_tabs(book: Book) -> Iterator[tuple[str, str, Iterable[Link]]]:
    """Yields label, id and pages of each tab of a book."""

    def page(label: str, name: str) -> Link:
        return Link(label, reverse(name, args=[book.pk]), f"{name.replace('_', '-')}-link")

    yield "Overview", "overview-tab", [page("Overview", "book")]
    yield "Queries", "queries-tab", [page("Queries", "book_queries")]
    settings = [page("Settings", "book_judging")] if book.is_editable else []
    yield "Judging", "judging-tab", [*settings, *links_at(Place.BOOK_JUDGING, book)]
    quality = [page("Raters", "book_raters"), page("Decided", "book_decided")]
    yield "Quality", "quality-tab", [page("Conflicts", "book_conflicts"), *links_at(Place.BOOK_QUALITY, book), *quality]
    merge = [page("Merge", "book_merge")] if book.is_owned else []
    yield "Sources", "sources-tab", [page("Files", "book_files"), *links_at(Place.BOOK_SOURCES, book), *merge]


def _path(page: Link) -> str:
    return page.url.partition("?")[0]
