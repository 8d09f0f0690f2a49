"""Rules that combine the ratings of one document for one query into its grade."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from statistics import fmean, median_low, multimode
from types import MappingProxyType
from typing import Any, Protocol

from .errors import GradeError
from .scale import Scale


class Moment(Protocol):
    """When a rating was given: a datetime, a number, or a tuple of these."""

    def __lt__(self, other: Any, /) -> bool: ...


Rating = tuple[float | None, Moment]
"""(value, moment); a value of None means "cannot judge". The moments of one document's ratings are of one type."""


def _lowest_of_three(values: list[float]) -> float:
    return sorted(values)[-3:][0]


def _quepid(values: list[float]) -> float:
    return _lowest_of_three(values) if len(values) > 2 else float(math.floor(fmean(values) + 0.5))


RULES: Mapping[str, Callable[[list[float]], float]] = MappingProxyType(
    {
        "latest": min,  # of those given at the last moment
        "mean": fmean,
        "median": median_low,
        "majority": lambda values: min(multimode(values)),
        "lowest_of_three": _lowest_of_three,
        "quepid": _quepid,
    }
)


def combine_ratings(ratings: Iterable[Rating], rule: str, scale: Scale) -> float | None:
    """Returns the grade of one document, or None if no rating has a value.

    `rule`: 'latest' · 'mean' (may be a fraction) · 'median' · 'majority' · 'lowest_of_three' (the lowest of the three
    highest ratings; of fewer, the lowest) · 'quepid' (of one or two ratings the mean, rounded to a whole number with halves
    up; of more, the lowest of the three highest: what Quepid copies from a book to a case). Ties go to the lower grade: two
    ratings given at the same moment, two middle ratings, two equally frequent ones.

    Raises `GradeError` for an unknown rule and for a value outside the scale.
    """
    if rule not in RULES:
        raise GradeError(f"Unknown rule {rule!r} for combining ratings. Choose one of: {', '.join(RULES)}.")
    rated = [(value, moment) for value, moment in ratings if value is not None]
    for value, _ in rated:
        if not scale.contains(value):
            raise GradeError(f"The rating {value:g} is outside the scale {scale}.")
    if not rated:
        return None
    newest = max(moment for _, moment in rated) if rule == "latest" else None
    values = [value for value, moment in rated if newest is None or moment == newest]
    return min(max(RULES[rule](values), scale.lowest), scale.top)  # rounding could leave a scale of fractions
