"""Highlighted words in a text: U+E000 before and U+E001 after each, private-use characters that no keyboard has."""

from __future__ import annotations

import re

OPEN, CLOSE = "\ue000", "\ue001"
Pieces = tuple[tuple[str, bool], ...]  # (text, is highlighted)
_ANY_MARK = re.compile(f"[{OPEN}{CLOSE}]")


def split_highlights(text: str, opening: str = OPEN, closing: str = CLOSE) -> Pieces:
    """Splits a text at its marks. No piece is empty or contains a mark; nothing is escaped."""
    pieces: list[tuple[str, bool]] = []
    is_highlighted = False
    for index, part in enumerate(re.split(f"({opening}|{closing})", text)):
        if index % 2:
            is_highlighted = part == opening
        elif plain := without_marks(part):
            pieces.append((plain, is_highlighted))
    return tuple(pieces)


def without_marks(text: str) -> str:
    """Returns the text without the characters that serve as marks."""
    return _ANY_MARK.sub("", text)


def highlighted_pieces(text: str, highlight: str, *, whole: bool) -> Pieces:
    """Splits a text of which `highlight` is an excerpt with marks.

    Returns all of the text if `whole`, else the excerpt, with … where text was omitted. If `highlight` is not an excerpt of
    the text, returns the text as one piece that is not highlighted.
    """
    excerpt, plain = without_marks(highlight), without_marks(text)
    start = plain.find(excerpt) if excerpt else -1
    if start < 0:
        return ((plain, False),) if plain else ()
    before, after = plain[:start], plain[start + len(excerpt) :]
    if not whole:
        before, after = "…" if before.strip() else "", "…" if after.strip() else ""
    return tuple(piece for piece in ((before, False), *split_highlights(highlight), (after, False)) if piece[0])
