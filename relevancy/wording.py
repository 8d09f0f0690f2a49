"""Words of sentences for messages of every room."""

import math
from collections.abc import Collection, Sequence
from difflib import get_close_matches


def counted(count: int, singular: str, plural: str = "") -> str:
    """ "1 query", "1,204 queries"; without `plural`, the plural ends in "s"."""
    return f"{count:,} {singular if count == 1 else plural or f'{singular}s'}"


def listed(names: Sequence[str], most: int) -> str:
    """ "shoes, boots and 1,204 more": at most so many of the names."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def describe_pace(per_second: float, left: int) -> str:
    """ "38 a second · 15 s left"."""
    pace = f"{per_second:,.0f} a second" if per_second >= 1 else f"{per_second * 60:,.0f} a minute"
    return f"{pace} · {_duration(left / per_second)} left"


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{math.ceil(seconds)} s"
    minutes = math.ceil(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{math.ceil(minutes / 60)} h"


def unknown_name(name: str, known: Collection[str]) -> str:
    """ "There is no 'txt' here. Did you mean text?"; all known names if none is similar."""
    close = get_close_matches(name, known, n=1)
    suggestion = f"Did you mean {close[0]}?" if close else f"Known are: {', '.join(sorted(known)) or 'none'}."
    return f"There is no {name!r} here. {suggestion}"
