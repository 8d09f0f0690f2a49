"""Rating scales: numbers with labels."""

import re

from relevancy.models import Scorer, ScorerVersion

from .errors import Refused

MAX_GRADES = 101
_RANGE = re.compile(r"[^:,\s]*\s*:\s*[^:,\s]*")  # a colon may also stand in a label


def parse_scale(text: str) -> list[list[float | str]]:
    """`1:10` or `0 Poor, 1 Fair, 2 Good, 3 Perfect` → `[[0, 'Poor'], …]`, ascending. Whole or fractional numbers.

    Raises `Refused` for letters where a number belongs, duplicates, or fewer than two grades.
    """
    text = text.strip()
    if _RANGE.fullmatch(text):
        return [[grade, ""] for grade in _from_range(text)]
    grades: dict[float, str] = {}
    for part in filter(None, (piece.strip() for piece in text.replace("\n", ",").split(","))):
        number, _, label = part.replace("=", " ", 1).partition(" ")
        grade = _number(number)
        if grade in grades:
            raise Refused(f"The scale names {grade:g} twice.", field="scale")
        grades[grade] = label.strip()
    if len(grades) < 2:
        raise Refused("A scale needs at least two grades, such as 0:3 or “0 Poor, 1 Good”.", field="scale")
    if len(grades) > MAX_GRADES:
        raise Refused(f"A scale has at most {MAX_GRADES} grades.", field="scale")
    return [[_plain(grade), label] for grade, label in sorted(grades.items())]


def _from_range(text: str) -> list[float]:
    low, _, high = text.partition(":")
    lowest, top = _number(low), _number(high)
    if not (lowest < top and lowest.is_integer() and top.is_integer() and top - lowest < MAX_GRADES):
        raise Refused(
            f"{text!r} is no scale: write LOWEST:HIGHEST with whole numbers, at most {MAX_GRADES - 1} apart, such as 1:10.",
            field="scale",
        )
    return [_plain(lowest + step) for step in range(int(top - lowest) + 1)]


def _number(text: str) -> float:
    try:
        value = float(text.strip())
    except ValueError:
        raise Refused(f"{text.strip()!r} in the scale is no number.", field="scale") from None
    if not abs(value) < 1e6 or value < 0:
        raise Refused(f"{text.strip()} cannot be a grade: grades run from 0 up.", field="scale")
    return value


def _plain(value: float) -> float:
    return int(value) if float(value).is_integer() else value


def newest_version(scorer: Scorer) -> ScorerVersion:
    """The version of a scorer that new scores are made with."""
    version: ScorerVersion = scorer.versions.order_by("-number")[0]
    return version
