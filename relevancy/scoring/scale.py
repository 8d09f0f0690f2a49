"""The scale of a book: its grades, and from which one a document counts as relevant."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np

from .arrays import FloatArray
from .errors import ScaleError

MOST_GRADES = 1001
_RANGE = re.compile(r"\s*(\d{1,9})\s*:\s*(\d{1,9})\s*")


@dataclass(frozen=True)
class Scale:
    """Grades in ascending order, none below 0, at least two.

    `relevant_from`: the lowest grade that counts as relevant. Left out: 1 on scales that begin at 0 (their top where
    it is below 1), else the lowest grade of the upper half, the middle grade not included (6 on 1–10, 4 on 1–5).
    """

    grades: tuple[float, ...]
    relevant_from: float = None  # type: ignore[assignment]  # filled in below, so that readers always get a number

    def __post_init__(self) -> None:
        shown = ", ".join(f"{grade:g}" for grade in self.grades[:12])
        if len(self.grades) < 2:
            raise ScaleError(f"A scale needs at least two grades; this one has: {shown or 'none'}.")
        if not all(math.isfinite(grade) for grade in self.grades):
            raise ScaleError(f"The grades of a scale must be finite numbers, not: {shown}.")
        if any(low >= high for low, high in zip(self.grades, self.grades[1:], strict=False)):
            raise ScaleError(f"The grades of a scale must ascend, each higher than the one before; got: {shown}.")
        if self.grades[0] < 0:
            raise ScaleError(f"A scale cannot go below 0; its lowest grade is {self.grades[0]:g}.")
        if self.relevant_from is None:
            object.__setattr__(self, "relevant_from", self._usual_threshold())

    def _usual_threshold(self) -> float:
        if self.grades[0] == 0:
            return min(1.0, float(self.grades[-1]))
        return float(self.grades[(len(self.grades) + 1) // 2])

    @classmethod
    def parse(cls, text: str, relevant_from: float | None = None) -> Scale:
        """The scale of the whole grades `"LO:HI"`, such as `"0:3"` or `"1:10"`."""
        found = _RANGE.fullmatch(text)
        if not found:
            raise ScaleError(f"A scale is written LOWEST:HIGHEST in whole numbers, such as 0:3 or 1:10; got {text!r}.")
        low, high = int(found[1]), int(found[2])
        if high <= low:
            raise ScaleError(f"The scale {text.strip()} must end above its lowest grade.")
        if high - low >= MOST_GRADES:
            raise ScaleError(
                f"The scale {text.strip()} has {high - low + 1} grades; at most {MOST_GRADES} are possible."
            )
        grades = tuple(float(grade) for grade in range(low, high + 1))
        return cls(grades) if relevant_from is None else cls(grades, relevant_from)

    @property
    def lowest(self) -> float:
        return self.grades[0]

    @property
    def top(self) -> float:
        return self.grades[-1]

    def contains(self, value: float) -> bool:
        """Whether `value` lies between the lowest and the top grade. Fractions do: a mean of ratings is a grade."""
        return self.lowest <= value <= self.top

    def __str__(self) -> str:
        return f"{self.lowest:g}:{self.top:g}"


def map_grades[Grades: (float, FloatArray)](grade: Grades, from_scale: Scale, to_scale: Scale) -> Grades:
    """Grades of one scale on another, linearly: lowest on lowest, top on top, both exactly; one or an array of them.

    NaN (unrated) stays NaN. Between scales with the same ends nothing changes. A grade outside its scale, such as one
    below 0 in a TREC file, goes to the nearer end.
    """
    inside = np.clip(np.asarray(grade, dtype=np.float64), from_scale.lowest, from_scale.top)
    if (from_scale.lowest, from_scale.top) != (to_scale.lowest, to_scale.top):
        # Multiplied before it is divided, so that whole grades give whole grades wherever they should.
        above = (inside - from_scale.lowest) * (to_scale.top - to_scale.lowest) / (from_scale.top - from_scale.lowest)
        inside = np.where(inside == from_scale.top, to_scale.top, to_scale.lowest + above)
    if isinstance(grade, np.ndarray):
        return inside
    return float(inside)
