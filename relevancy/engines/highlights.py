"""Snippets of hits with the words that were looked for marked in them.

In `Hit.highlights` U+E000 stands before and U+E001 after each marked word; all other text is raw and must still be escaped.
Engines are asked for each mark twice, so that the same characters within a document cannot be taken for a mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from .fields import FieldSpec, value_at
from .marks import CLOSE, OPEN, without_marks

ASKED_OPEN, ASKED_CLOSE = OPEN * 2, CLOSE * 2
LENGTH = 180  # characters that engines are asked for in one snippet
_LONGEST = 240
_MARKS = re.compile(f"({ASKED_OPEN}|{ASKED_CLOSE})")


def wanted(spec: FieldSpec) -> tuple[str, ...] | None:
    """The displayed fields that may hold text, each once; None for all there are."""
    if spec.all:
        return None
    names = dict.fromkeys([spec.title, *spec.highlights, *spec.sub])
    return tuple(name for name in names if name != spec.id and name not in spec.functions and name not in spec.media)


def read_highlights(found: Any, fields: Mapping[str, Any], spec: FieldSpec) -> dict[str, str]:
    """Snippets by field, from what an engine sent (field → text or list of texts) about a hit with these fields.

    Left out is what was not asked for, what has no mark, and what does not stand in the field's text.
    """
    if not isinstance(found, Mapping):
        return {}
    names = wanted(spec)
    result: dict[str, str] = {}
    for name in found if names is None else names:
        texts = [without_marks(text) for text in texts_of(value_at(fields, name))]
        snippet = next((marked(text) for text in texts_of(found.get(name))), "")
        if OPEN in snippet and any(without_marks(snippet) in text for text in texts):
            result[str(name)] = snippet
    return result


def marked(text: str) -> str:
    """An engine's snippet with single marks, well-formed, and of bounded length around the first marked word."""
    pieces: list[tuple[str, bool]] = []
    inside = False
    for index, piece in enumerate(_MARKS.split(text)):
        if index % 2:
            inside = piece == ASKED_OPEN
        elif plain := without_marks(piece):
            pieces.append((plain, inside))
    return "".join(f"{OPEN}{piece}{CLOSE}" if mark else piece for piece, mark in _cut(pieces))


def texts_of(value: Any) -> list[str]:
    """The texts among a field's values."""
    values = value if isinstance(value, list | tuple) else [value]
    return [item for item in values if isinstance(item, str)]


def _cut(pieces: list[tuple[str, bool]]) -> Iterable[tuple[str, bool]]:
    """Engines end a snippet where a sentence ends, which may be far off."""
    before = 0
    for piece, mark in pieces:
        if mark:
            break
        before += len(piece)
    length = sum(len(piece) for piece, _ in pieces)
    if length <= _LONGEST:
        return pieces
    begin = max(0, min(before - _LONGEST // 3, length - _LONGEST))
    whole = "".join(piece for piece, _ in pieces)
    if begin and (blank := whole.find(" ", begin, before)) >= 0:
        begin = blank + 1
    end = begin + _LONGEST
    if end < length and (blank := whole.rfind(" ", before, end)) > before:
        end = blank
    shown: list[tuple[str, bool]] = []
    at = 0
    for piece, mark in pieces:
        part = piece[max(begin - at, 0) : max(end - at, 0)]
        if part:
            shown.append((part, mark))
        at += len(piece)
    return shown
