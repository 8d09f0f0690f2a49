"""Which section of a guide is the help of a page."""

from django.http import HttpRequest
from django.urls import reverse

from relevancy.hooks import help_pages

_CASE, _BOOK = "cases/<int:case_id>", "books/<int:book_id>"
# Beginnings of routes, as in urls.py, with the guide or its section. The longest one that fits counts.
PAGES = {
    "cases/": "workbench",
    "cases/new/": "templates",
    "cases/import/": "files",
    f"{_CASE}/annotations/": "workbench#history",
    f"{_CASE}/attempts/": "workbench#editing-the-attempt",
    f"{_CASE}/compare/": "comparing",
    f"{_CASE}/files/": "files",
    f"{_CASE}/history/": "workbench#history",
    f"{_CASE}/knobs/": "workbench#editing-the-attempt",
    f"{_CASE}/links/": "workbench#linked-queries",
    f"{_CASE}/share/": "security#who-may-do-what",
    "exports/": "files#large-files",
    "judge/": "judging#what-waits-for-you",
    "books/": "judging",
    "books/import/": "files",
    f"{_BOOK}/change/": "judging#scale-and-rule",
    f"{_BOOK}/conflicts/": "judging#conflicts",
    f"{_BOOK}/judge/": "judging#judging-one-document-at-a-time",
    f"{_BOOK}/judge/list/": "judging#a-query-as-a-list",
    f"{_BOOK}/merge/": "judging#merging-books",
    f"{_BOOK}/raters/": "judging#all-ratings-of-one-rater",
    f"{_BOOK}/rating-import/": "files#ratings",
    "endpoints/": "security#what-is-sent-to-an-engine",
    "scorers/": "scorers",
    "scorers/new/": "scorers#choosing-a-scorer",
    "scorers/import/": "scorers#files",
    "teams/": "security#who-may-do-what",
    "invitations/": "security#who-may-do-what",
    "account/": "security",
    "account/tokens/": "security#api-tokens",
}


def find_help(request: HttpRequest) -> str:
    """Returns the address of the help of the page; that of all guides if no section is about it."""
    route = request.resolver_match.route if request.resolver_match else ""
    pages = PAGES | help_pages
    fitting = max((beginning for beginning in pages if route.startswith(beginning)), key=len, default="")
    if not fitting:
        return reverse("help")
    guide, _, section = pages[fitting].partition("#")
    return f"{reverse('guide', args=[guide])}{f'#{section}' if section else ''}"
