"""Why a document matched, as a bar with a segment for each field."""

from collections.abc import Sequence
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

SHORTEST = 2.0  # per cent of the width: shorter bars would be invisible


def explain_bar(slices: Sequence[Any] | None, score: float, first: float) -> SafeString:
    """A stacked bar whose length is `score` relative to the score of the first result, at most the full width.

    A slice: field, share (of 1), colour (1–5). The order of the colours is the same in all bars. None: not explained yet.
    """
    length = 100.0 if first <= 0 else min(100.0, max(SHORTEST, 100 * max(score, 0) / first))
    at, drawn = 0.0, []
    for part in sorted(slices or (), key=lambda item: item.colour):
        width = part.share * length
        drawn.append((part.colour, f"{at:.2f}", f"{width:.2f}"))
        at += width
    return format_html(
        '<svg viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label="{}">'
        '<rect class="track" width="100" height="6" rx="1"/>{}</svg>',
        "not explained yet" if slices is None else slices_text(slices),
        format_html_join("", '<rect class="part{}" x="{}" width="{}" height="6"/>', drawn),
    )


def slices_text(slices: Sequence[Any]) -> str:
    """The fields of an explanation with their shares: "title 88 %, overview 12 %"."""
    return ", ".join(f"{part.field or 'other'} {share(part.share)}" for part in slices) or "nothing matched"


def tree_text(node: Any) -> str:
    """A tree of nodes (value, description, children) as lines, indented by their depth."""
    lines, waiting = [], [(node, 0)]
    while waiting:
        current, depth = waiting.pop()
        lines.append(f"{'  ' * depth}{current.value:.6g}  {current.description}")
        waiting += [(child, depth + 1) for child in reversed(current.children)]
    return "\n".join(lines)


def share(value: float) -> str:
    """A share of 1 as per cent: "62 %", "< 1 %"."""
    percent = round(100 * value)
    return f"{percent} %" if percent or not value else "< 1 %"
