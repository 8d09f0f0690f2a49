"""Texts that people wrote in Markdown, as HTML that can do no harm.

HTML in the text is escaped. Pictures are left out, because a picture on another server would report every reader. Links lead
to http, https and mail addresses only; the server of a link does not learn which page it was on.
"""

import re
from collections.abc import Iterable
from functools import cache

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

# Leads to a page, a mailbox or a place on this site: anything before a colon that comes before the first slash, question mark or hash
# is a scheme.
_HARMLESS = re.compile(r"\s*(?:https?:|mailto:|[^:/?#]*(?:[/?#]|\Z))", re.IGNORECASE)
_LOWEST_HEADING = 6
_BELOW_THE_PAGE = 3  # a first-level heading of a note is a fourth-level one on a page


def markdown(text: object) -> SafeString:
    """A text in Markdown (CommonMark and tables) as safe HTML."""
    reader = _reader()
    tokens = reader.parse(str(text or ""))
    for token in tokens:
        token.attrs.pop("style", None)  # of aligned columns, which the content security policy forbids
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(_LOWEST_HEADING, int(token.tag[1:]) + _BELOW_THE_PAGE)}"
        for part in token.children or ():
            if part.type == "link_open":
                part.attrSet("rel", "noopener nofollow")
    return mark_safe(reader.renderer.render(tokens, reader.options, {}))


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    # The library calls it by this name, with the address decoded.
    reader.validateLink = lambda url: _HARMLESS.match(url) is not None  # type: ignore[method-assign]
    return reader


def highlighted(pieces: Iterable[tuple[str, bool]]) -> SafeString:
    """A text in pieces, `(text, marked)`, with `<mark>` around those that are marked."""
    return mark_safe("".join(format_html("<mark>{}</mark>" if marked else "{}", text) for text, marked in pieces))
