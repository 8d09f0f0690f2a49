"""Snippets of hits in which the words of the query are highlighted.

In `Hit.highlights` U+E000 precedes and U+E001 follows each highlighted word; all other text is raw and must still be escaped.
Engines are told to put each mark twice, so that the same characters in a document are not mistaken for a mark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from relevancy.engines.fields.specs import FieldSpec

from .highlighting import CLOSE, OPEN, Pieces, split_highlights, without_marks
from .values import value_at

REQUESTED_OPEN, REQUESTED_CLOSE = OPEN * 2, CLOSE * 2
REQUESTED_LENGTH = 180  # characters of a snippet
_MAX_LENGTH = 240


def highlighted_fields(spec: FieldSpec) -> tuple[str, ...] | None:
    """Returns the displayed fields that may contain text, each once; None means all fields."""
    if spec.all_fields:
        return None
    names = dict.fromkeys([spec.title, *spec.highlights, *spec.sub])
    return tuple(name for name in names if name != spec.id and name not in spec.functions and name not in spec.media)


def read_highlights(highlights: Any, fields: Mapping[str, Any], spec: FieldSpec) -> dict[str, str]:
    """Returns snippets by field, from what an engine returned for a hit (field → text or list of texts).

    `fields`: the hit's fields. Omits fields that were not requested, snippets without a mark, and snippets that are not
    part of the field's text.
    """
    if not isinstance(highlights, Mapping):
        return {}
    names = highlighted_fields(spec)
    snippets: dict[str, str] = {}
    for name in highlights if names is None else names:
        texts = [without_marks(text) for text in texts_of(value_at(fields, name))]
        snippet = next((read_snippet(text) for text in texts_of(highlights.get(name))), "")
        if OPEN in snippet and any(without_marks(snippet) in text for text in texts):
            snippets[str(name)] = snippet
    return snippets


def read_snippet(text: str) -> str:
    """Returns an engine's snippet with single, balanced marks, cut to 240 characters around the first highlighted word."""
    pieces = split_highlights(text, REQUESTED_OPEN, REQUESTED_CLOSE)
    return "".join(f"{OPEN}{piece}{CLOSE}" if highlighted else piece for piece, highlighted in _truncated(pieces))


def texts_of(value: Any) -> list[str]:
    """Returns the texts among a field's values."""
    values = value if isinstance(value, list | tuple) else [value]
    return [item for item in values if isinstance(item, str)]


def _truncated(pieces: Pieces) -> Iterable[tuple[str, bool]]:
    """Cuts a long snippet at blanks: engines end a snippet at the end of a sentence, which may be far away."""
    first_mark = 0
    for piece, highlighted in pieces:
        if highlighted:
            break
        first_mark += len(piece)
    text = "".join(piece for piece, _ in pieces)
    if len(text) <= _MAX_LENGTH:
        return pieces
    start = max(0, min(first_mark - _MAX_LENGTH // 3, len(text) - _MAX_LENGTH))
    if start and (blank := text.find(" ", start, first_mark)) >= 0:
        start = blank + 1
    end = start + _MAX_LENGTH
    if end < len(text) and (blank := text.rfind(" ", first_mark, end)) > first_mark:
        end = blank
    truncated: list[tuple[str, bool]] = []
    offset = 0
    for piece, highlighted in pieces:
        part = piece[max(start - offset, 0) : max(end - offset, 0)]
        if part:
            truncated.append((part, highlighted))
        offset += len(piece)
    return truncated
