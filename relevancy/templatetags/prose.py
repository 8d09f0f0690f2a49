"""Texts that people wrote in Markdown, as HTML that can do no harm.

HTML in the text is escaped. Pictures are left out, because a picture on another server would report every reader. Links lead
to http, https and mail addresses only; the server of a link does not learn which page it was on.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

# Anything before a colon that comes before the first slash, question mark or hash is a scheme.
_SCHEME = re.compile(r"\s*([^/?#:]*):")
_ALLOWED = {"http", "https", "mailto"}
_LOWEST_HEADING = 6
_BELOW_THE_PAGE = 3  # a first-level heading of a note is a fourth-level one on a page


def markdown(text: object) -> SafeString:
    """A text in Markdown (CommonMark and tables) as safe HTML."""
    return mark_safe(_reader().render(str(text or "")))


def highlighted(pieces: Iterable[tuple[str, bool]]) -> SafeString:
    """A text in pieces, `(text, marked)`, with `<mark>` around those that are marked."""
    return mark_safe("".join(format_html("<mark>{}</mark>" if marked else "{}", text) for text, marked in pieces))


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False})
    reader.enable("table").disable("image")
    # The library calls it by this name, with the address decoded.
    reader.validateLink = _harmless  # type: ignore[method-assign]
    reader.add_render_rule("link_open", _link)
    for part in ("heading_open", "heading_close"):
        reader.add_render_rule(part, _heading)
    for part in ("th_open", "td_open"):
        reader.add_render_rule(part, _cell)
    return reader


def _harmless(url: str) -> bool:
    """Whether an address leads to a page or a mailbox; one without a scheme stays on this site."""
    scheme = _SCHEME.match(url)
    return scheme is None or scheme[1].lower() in _ALLOWED


def _link(self: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    tokens[index].attrSet("rel", "noopener nofollow")
    return str(self.renderToken(tokens, index, options, env))


def _heading(self: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    level = int(tokens[index].tag[1:])
    # The token is drawn once; a second call would lower it again.
    tokens[index].tag = f"h{min(_LOWEST_HEADING, level + _BELOW_THE_PAGE)}"
    return str(self.renderToken(tokens, index, options, env))


def _cell(self: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    # A column's alignment comes as an inline style, which the content security policy forbids.
    tokens[index].attrs.pop("style", None)
    return str(self.renderToken(tokens, index, options, env))
