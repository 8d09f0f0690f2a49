"""Words of sentences for messages of every room."""

from collections.abc import Collection
from difflib import get_close_matches


def counted(count: int, singular: str, plural: str = "") -> str:
    """ "1 query", "1,204 queries"; without `plural`, the plural ends in "s"."""
    return f"{count:,} {singular if count == 1 else plural or f'{singular}s'}"


def unknown_name(name: str, known: Collection[str]) -> str:
    """ "There is no 'txt' here. Did you mean text?"; all known names if none is similar."""
    close = get_close_matches(name, known, n=1)
    suggestion = f"Did you mean {close[0]}?" if close else f"Known are: {', '.join(sorted(known)) or 'none'}."
    return f"There is no {name!r} here. {suggestion}"
