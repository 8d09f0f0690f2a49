"""Marked words within a text: U+E000 before, U+E001 after each. Both are private-use characters that no keyboard has."""

from __future__ import annotations

import re

OPEN, CLOSE = "\ue000", "\ue001"
Pieces = tuple[tuple[str, bool], ...]
_STRAY = re.compile(f"[{OPEN}{CLOSE}]")
_MARK = re.compile(f"({OPEN}|{CLOSE})")


def pieces(text: str) -> Pieces:
    """The text in pieces, each with whether it is marked. No piece is empty, none holds a mark; nothing is escaped."""
    found: list[tuple[str, bool]] = []
    inside = False
    for index, piece in enumerate(_MARK.split(text)):
        if index % 2:
            inside = piece == OPEN
        elif piece:
            found.append((piece, inside))
    return tuple(found)


def without_marks(text: str) -> str:
    """The text without the characters that are used as marks."""
    return _STRAY.sub("", text)


def pieces_within(text: str, marked: str, *, whole: bool) -> Pieces:
    """The pieces of a text of which `marked` is a part: all of it where `whole`, else that part, with … where it was cut.

    The text as one unmarked piece where `marked` is no part of it.
    """
    part, plain = without_marks(marked), without_marks(text)
    at = plain.find(part) if part else -1
    if at < 0:
        return ((plain, False),) if plain else ()
    before, after = plain[:at], plain[at + len(part) :]
    if not whole:
        before, after = "…" if before.strip() else "", "…" if after.strip() else ""
    return tuple(piece for piece in ((before, False), *pieces(marked), (after, False)) if piece[0])
