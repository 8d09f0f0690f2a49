"""Rating scales: which grades exist, what they are called, and from which grade on a document counts as relevant.

Everything that is typed as a scale or as grades is parsed here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .arrays import FloatArray
from .errors import GradeError, ScaleError

MAX_GRADES = 1001
MAX_LABELLED_GRADES = 101
MAX_GRADE = 1_000_000
UNRATED_MARKS = frozenset({"-", "–", "·"})
_RANGE = re.compile(r"\s*(\d{1,9})(?:\.0+)?\s*:\s*(\d{1,9})(?:\.0+)?\s*")
_LOOKS_LIKE_RANGE = re.compile(r"[^:,\s]*\s*:\s*[^:,\s]*")  # a label may contain a colon, too


@dataclass(frozen=True)
class Scale:
    """A rating scale.

    Attributes:
        grades: at least two, ascending, none below 0.
        relevant_from: the lowest grade that counts as relevant. Left out, it is 1 on scales that start at 0 (or their
            top, if that is below 1), and on others the lowest grade of the upper half, the middle grade not included
            (6 on 1–10, 4 on 1–5).

    Raises `ScaleError` for grades that do not form a scale.
    """

    grades: tuple[float, ...]
    relevant_from: float = None  # type: ignore[assignment]  # set by __post_init__, so that it is always a number

    def __post_init__(self) -> None:
        listed = ", ".join(f"{grade:g}" for grade in self.grades[:12])
        if len(self.grades) < 2:
            raise ScaleError(f"A scale needs at least two grades. This one has: {listed or 'none'}.")
        if not all(math.isfinite(grade) for grade in self.grades):
            raise ScaleError(f"The grades of a scale must be finite numbers, not: {listed}.")
        if any(low >= high for low, high in zip(self.grades, self.grades[1:], strict=False)):
            raise ScaleError(
                f"The grades of a scale must ascend, each higher than the one before. These do not: {listed}."
            )
        if self.grades[0] < 0:
            raise ScaleError(f"A scale cannot contain grades below 0. The lowest grade is {self.grades[0]:g}.")
        if self.relevant_from is None:
            object.__setattr__(self, "relevant_from", self._default_threshold())

    def _default_threshold(self) -> float:
        if self.grades[0] == 0:
            return min(1.0, float(self.grades[-1]))
        return float(self.grades[(len(self.grades) + 1) // 2])

    @classmethod
    def parse(cls, text: str, relevant_from: float | None = None) -> Scale:
        """Returns the scale of the whole grades of `"LOWEST:HIGHEST"`, such as `"0:3"` or `"1:10"`. Raises `ScaleError`."""
        grades = _parse_range(text, MAX_GRADES)
        return cls(grades) if relevant_from is None else cls(grades, relevant_from)

    @property
    def lowest(self) -> float:
        return self.grades[0]

    @property
    def top(self) -> float:
        return self.grades[-1]

    def contains(self, value: float) -> bool:
        """Returns whether `value` lies between the lowest and the top grade. Fractions do: the mean of ratings is a grade."""
        return self.grades[0] <= value <= self.grades[-1]

    def __str__(self) -> str:
        return f"{self.lowest:g}:{self.top:g}"


def parse_labelled_scale(text: str) -> list[tuple[float, str]]:
    """Returns grades with their labels, ascending, from `"1:10"` or `"0 Poor, 1 Fair, 2 Good"`.

    Grades are separated by commas or line breaks; `=` may stand between a grade and its label; labels may be left out.
    Whole numbers are returned as int. Raises `ScaleError` for a grade that is not a number from 0 up, for a grade that
    occurs twice, and for fewer than 2 or more than 101 grades.
    """
    text = text.strip()
    if _LOOKS_LIKE_RANGE.fullmatch(text):
        return [(_as_int_if_whole(grade), "") for grade in _parse_range(text, MAX_LABELLED_GRADES)]
    labels: dict[float, str] = {}
    for part in filter(None, (piece.strip() for piece in text.replace("\n", ",").split(","))):
        number, _, label = part.replace("=", " ", 1).partition(" ")
        grade = _parse_scale_grade(number)
        if grade in labels:
            raise ScaleError(f"The scale contains the grade {grade:g} twice.")
        labels[grade] = label.strip()
    if len(labels) < 2:
        raise ScaleError("A scale needs at least two grades, such as 0:3 or “0 Poor, 1 Good”.")
    if len(labels) > MAX_LABELLED_GRADES:
        raise ScaleError(f"A scale can have at most {MAX_LABELLED_GRADES} grades; this one has {len(labels)}.")
    return [(_as_int_if_whole(grade), label) for grade, label in sorted(labels.items())]


def parse_grades(text: str) -> list[float | None]:
    """Returns grades separated by spaces or commas; `-`, `–` or `·` is an unrated document (None).

    Raises `GradeError` for anything else.
    """
    grades: list[float | None] = []
    for position, word in enumerate(text.replace(",", " ").split(), 1):
        if word in UNRATED_MARKS:
            grades.append(None)
            continue
        try:
            grade = float(word)
        except ValueError:
            grade = math.nan
        if not math.isfinite(grade):
            raise GradeError(f"Grade {position} is {word!r}. Enter a number, or - for an unrated document.")
        grades.append(grade)
    return grades


def smallest_scale(grades: Iterable[float | None]) -> str:
    """Returns `"0:TOP"`, the smallest scale from 0 that contains the grades: TOP is the highest one, rounded up, at least 1."""
    return f"0:{max(1, math.ceil(max((grade for grade in grades if grade is not None), default=1)))}"


def map_grades[Grades: (float, FloatArray)](grade: Grades, from_scale: Scale, to_scale: Scale) -> Grades:
    """Returns one grade or an array of grades, mapped linearly from one scale to another: lowest to lowest, top to top.

    Both ends are exact. NaN (unrated) stays NaN. Between scales with the same ends nothing changes. A grade outside its
    scale, such as one below 0 in a TREC file, is treated as the nearer end.
    """
    clipped = np.clip(np.asarray(grade, dtype=np.float64), from_scale.lowest, from_scale.top)
    if (from_scale.lowest, from_scale.top) != (to_scale.lowest, to_scale.top):
        # Multiplied before it is divided, so that whole grades give whole grades wherever possible.
        above = (clipped - from_scale.lowest) * (to_scale.top - to_scale.lowest) / (from_scale.top - from_scale.lowest)
        clipped = np.where(clipped == from_scale.top, to_scale.top, to_scale.lowest + above)
    if isinstance(grade, np.ndarray):
        return clipped
    return float(clipped)


def _parse_range(text: str, max_grades: int) -> tuple[float, ...]:
    match = _RANGE.fullmatch(text)
    if not match:
        raise ScaleError(
            f"{text[:80]!r} is not a valid scale. Write LOWEST:HIGHEST with whole numbers from 0 up, such as 0:3 or 1:10."
        )
    low, high = int(match[1]), int(match[2])
    if high <= low:
        raise ScaleError(f"The scale {text.strip()} must end with a grade above its lowest one.")
    if high - low >= max_grades:
        raise ScaleError(f"The scale {text.strip()} has {high - low + 1} grades. It can have at most {max_grades}.")
    return tuple(float(grade) for grade in range(low, high + 1))


def _parse_scale_grade(text: str) -> float:
    try:
        grade = float(text.strip())
    except ValueError:
        raise ScaleError(f"The grade {text.strip()[:80]!r} in the scale is not a number.") from None
    if not 0 <= grade < MAX_GRADE:
        raise ScaleError(
            f"The grade {text.strip()[:80]} is not possible. Grades are numbers from 0 to below {MAX_GRADE:,}."
        )
    return grade


def _as_int_if_whole(grade: float) -> float:
    return int(grade) if grade.is_integer() else grade
