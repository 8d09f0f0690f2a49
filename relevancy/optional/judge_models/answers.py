"""Reads the grade from the text that a judge model answered with. Nothing is guessed, and nothing is clamped to the scale."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from json import JSONDecoder
from typing import Any

from relevancy import engines

from .prompts import CANNOT_JUDGE

MAX_LENGTH = 50_000  # characters of an answer; no grade needs as many
MAX_REASON_LENGTH = 1_000
_DECODER = JSONDecoder(parse_constant=lambda name: None)


class UnreadableAnswer(Exception):
    """An answer without a grade that can be read. The message says what it contains instead."""


@dataclass(frozen=True)
class ParsedAnswer:
    """`value`: a grade of the scale; None is "cannot judge". `reason`: the model's."""

    value: float | None
    reason: str = ""


def parse_answer(text: str, grades: Sequence[float]) -> ParsedAnswer:
    """Returns the grade in the JSON object of an answer, which may stand within other text.

    Raises `UnreadableAnswer` without a JSON object that has a grade, if the grade is not on the scale, and if several of them have
    different grades.
    """
    if len(text) > MAX_LENGTH:
        raise UnreadableAnswer(f"The answer has {len(text):,} characters; the maximum is {MAX_LENGTH:,}.")
    answers = [members for members in _objects(text) if "grade" in members]
    if not answers:
        beginning = engines.excerpt(text)
        content = f"It begins “{beginning}”" if beginning else "It is empty"
        raise UnreadableAnswer(f"The answer contains no JSON object with a grade. {content}.")
    values = {repr(_read_grade(answer["grade"], grades)) for answer in answers}
    if len(values) > 1:
        listed = ", ".join(engines.excerpt(str(answer["grade"]), 20) for answer in answers[:5])
        raise UnreadableAnswer(f"The answer contains several grades: {listed}.")
    grade = answers[0]["grade"]
    value = _read_grade(grade, grades)
    reason = engines.excerpt(str(answers[0].get("reason") or ""), MAX_REASON_LENGTH)
    is_cannot = grade is None or (isinstance(grade, str) and grade.strip().casefold().replace("_", " ") == CANNOT_JUDGE)
    if value is None and not is_cannot:
        raise UnreadableAnswer(f"The grade “{engines.excerpt(str(grade), 60)}” is not on the scale.")
    return ParsedAnswer(value, reason)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yields the JSON objects in a text, from left to right; not those within other objects."""
    start = text.find("{")
    while start >= 0:
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            if isinstance(value, dict):
                yield value
        start = text.find("{", end)


def _read_grade(grade: Any, grades: Sequence[float]) -> float | None:
    """Returns the grade of the scale that is meant; None for everything else."""
    if isinstance(grade, bool) or not isinstance(grade, int | float | str):
        return None
    try:
        number = float(grade)
    except (ValueError, OverflowError):
        return None
    return next((float(value) for value in grades if value == number), None)
