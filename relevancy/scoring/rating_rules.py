"""Rules that combine the ratings of one document for one query into its grade."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from statistics import fmean, median_low
from types import MappingProxyType
from typing import Any, Protocol

from .errors import GradeError
from .scale import Scale


class Moment(Protocol):
    """When a rating was given: a datetime, a number, or a tuple of these."""

    def __lt__(self, other: Any, /) -> bool: ...


Rating = tuple[float | None, Moment]
"""(value, moment); a value of None means "cannot judge". The moments of one document's ratings are of one type."""


def _latest(ratings: list[Rating]) -> float:
    newest = max(moment for _, moment in ratings)
    return min(value for value, moment in ratings if value is not None and moment == newest)


def _mean(ratings: list[Rating]) -> float:
    return fmean(_values(ratings))


def _median(ratings: list[Rating]) -> float:
    return median_low(_values(ratings))


def _majority(ratings: list[Rating]) -> float:
    votes = Counter(_values(ratings))
    most = max(votes.values())
    return min(value for value, count in votes.items() if count == most)


def _lowest_of_three(ratings: list[Rating]) -> float:
    return sorted(_values(ratings), reverse=True)[:3][-1]


def _quepid(ratings: list[Rating]) -> float:
    if len(ratings) > 2:
        return _lowest_of_three(ratings)
    return float(math.floor(_mean(ratings) + 0.5))


def _values(ratings: list[Rating]) -> list[float]:
    return [value for value, _ in ratings if value is not None]


RULES: Mapping[str, Callable[[list[Rating]], float]] = MappingProxyType(
    {
        "latest": _latest,
        "mean": _mean,
        "median": _median,
        "majority": _majority,
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
    with_value = [rating for rating in ratings if rating[0] is not None]
    for value, _ in with_value:
        if value is not None and not scale.contains(value):
            raise GradeError(f"The rating {value:g} is outside the scale {scale}.")
    if not with_value:
        return None
    return min(max(RULES[rule](with_value), scale.lowest), scale.top)  # rounding could leave a scale of fractions
