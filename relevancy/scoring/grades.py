"""From ratings to grades: the ratings of one document for one query, brought together by the book's rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from statistics import fmean, median_low
from types import MappingProxyType
from typing import Any

from .errors import GradeError
from .scale import Scale

Rating = tuple[float | None, Any]
"""(value, when): None = "cannot judge"; `when` is anything that sorts by time, alike for all ratings of a document."""


def _latest(ratings: list[Rating]) -> float:
    newest = max(when for _, when in ratings)
    return min(value for value, when in ratings if value is not None and when == newest)


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


def _values(ratings: list[Rating]) -> list[float]:
    return [value for value, _ in ratings if value is not None]


RULES: Mapping[str, Callable[[list[Rating]], float]] = MappingProxyType(
    {
        "latest": _latest,
        "mean": _mean,
        "median": _median,
        "majority": _majority,
        "lowest_of_three": _lowest_of_three,
    }
)


def combine(ratings: Iterable[Rating], rule: str, scale: Scale) -> float | None:
    """The grade of one document; None where nobody has rated it or could judge it.

    `rule`: 'latest' · 'mean' (may be a fraction) · 'median' · 'majority' · 'lowest_of_three' (lowest of the three
    highest; of fewer, the lowest). Ties go to the lower grade: two ratings at the same moment, two middle ones, two
    equally frequent ones. `GradeError` for a rule that does not exist and a value outside the scale.
    """
    return _combined(list(ratings), _rule(rule), scale)


def combine_many[Key: Hashable](
    ratings: Iterable[tuple[Key, float | None, Any]], rule: str, scale: Scale
) -> dict[Key, float]:
    """Grades of many documents from rows (document, value, when) in any order. Documents without a grade are absent."""
    chosen = _rule(rule)
    by_document: dict[Key, list[Rating]] = {}
    for document, value, when in ratings:
        by_document.setdefault(document, []).append((value, when))
    grades = {document: _combined(row, chosen, scale) for document, row in by_document.items()}
    return {document: grade for document, grade in grades.items() if grade is not None}


def _rule(name: str) -> Callable[[list[Rating]], float]:
    if name not in RULES:
        raise GradeError(f"There is no rule {name!r} for bringing ratings together. There are: {', '.join(RULES)}.")
    return RULES[name]


def _combined(ratings: list[Rating], rule: Callable[[list[Rating]], float], scale: Scale) -> float | None:
    judged = [rating for rating in ratings if rating[0] is not None]
    for value, _ in judged:
        if value is not None and not scale.contains(value):
            raise GradeError(f"The rating {value:g} is outside the scale {scale}.")
    return rule(judged) if judged else None
