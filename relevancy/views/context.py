"""Context processor: what base.html needs on every page."""

import re

from django.http import HttpRequest
from django.urls import reverse

from relevancy.hooks import section_paths

from .help.page_help import find_help

JUDGE = "judging_work"
_JUDGED = re.compile(r"/books/\d+/(qualification/)?judge/")  # what raters of a book see

# (label, URL name, prefixes of the paths that belong to it)
SECTIONS = (
    ("Judge", JUDGE, ()),
    ("Cases", "home", ("/cases/",)),
    ("Books", "books", ("/books/",)),
    ("Scorers", "scorers", ("/scorers/",)),
    ("Endpoints", "endpoints", ("/endpoints/",)),
)


def page(request: HttpRequest) -> dict[str, object]:
    """Returns the main navigation, the help of the page, the theme, the size of pictures, and whether single letters work as keys.

    No SQL beyond the request's user.
    """
    user = getattr(request, "user", None)  # missing if a middleware before authentication answers
    signed_in = user is not None and user.is_authenticated
    cookie = request.COOKIES.get("theme", "")
    theme = cookie if cookie in {"light", "dark"} else ""
    pictures = request.COOKIES.get("pictures", "")
    single_keys = True
    if user is not None and user.is_authenticated:
        single_keys = user.single_keys
        theme = theme or user.theme  # the switch of the top bar is for one browser, the account for all
    current = _current_section(request.path)
    return {
        "nav": [
            {"label": label, "url": reverse(name), "current": name == current}
            for label, name, _ in SECTIONS
            if signed_in and (name == JUDGE or not getattr(user, "is_only_rater", False))
        ],
        "jump_url": reverse("jump") if signed_in else "",
        "help_url": find_help(request) if signed_in else "",
        "theme": theme,
        "pictures": pictures if pictures == "large" else "",
        "single_keys": single_keys,
        "keys_off": not single_keys,
    }


def _current_section(path: str) -> str:
    """Returns the section that a page belongs to; empty if none."""
    if path.startswith(reverse(JUDGE)) or _JUDGED.match(path):
        return JUDGE
    for _, name, prefixes in SECTIONS:
        if path == reverse(name) or path.startswith((*prefixes, *section_paths.get(name, ()))):
            return name
    return ""
