"""Descriptions of measures (formula, worked example, parameters) and of the changes between scorer versions."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from relevancy import scorers, scores
from relevancy.models import ScorerDefinition, ScorerVersion
from relevancy.scoring.errors import ScoringError
from relevancy.scoring.types import Measure
from relevancy.templatetags import numbers

# An example ranking: positions on the rating scale from 0 (lowest) to 1 (highest); None is an unrated document.
EXAMPLE_RANKING = (1.0, 0.78, 0.89, None, 0.44, 0.0, 0.33, None, None, None)


def describe_measure(notation: str) -> dict[str, Any] | None:
    """Returns a measure as its page describes it; None if it is not installed or cannot be parsed.

    settings: its parameters with `title`, `value` as text, `meaning`, and `default`: whether it is that. cutoff: how many results
    count; None for all that are displayed. example: a `ScorerPreview`; None if it cannot be computed. grades, known: those of the
    example in rank order, and those of rated documents that were not returned.
    """
    try:
        measure = scorers.parse_measure(notation)
        formula = measure.formula()
    except ScoringError:
        return None
    grades, known, scale = example_grades([[grade, ""] for grade in range(4)]), "", "0:3"
    if example := measure.definition.example:
        grades, known, scale = format_grades(example.grades), format_grades(example.unretrieved), example.scale
    try:
        preview = scores.preview_grades(ScorerDefinition(measure=notation), grades=grades, known=known, scale=scale)
    except ScoringError:
        preview = None
    return {
        "definition": measure.definition,
        "formula": formula,
        "settings": list(_settings(measure)),
        "cutoff": measure.cutoff,
        "example": preview,
        "grades": grades,
        "known": known,
    }


def format_grades(grades: Sequence[float | None]) -> str:
    """Returns grades as text, such as `3 2 - 1`; `-` is an unrated document."""
    return " ".join("-" if grade is None else numbers.grade_text(grade) for grade in grades)


def example_grades(scale: Sequence[Sequence[float | str]]) -> str:
    """Returns an example ranking on a scale, as the initial grades of the scorer preview."""
    lowest, top = float(scale[0][0]), float(scale[-1][0])
    return format_grades(
        [None if share is None else float(round(lowest + share * (top - lowest))) for share in EXAMPLE_RANKING]
    )


def _settings(measure: Measure) -> Iterator[dict[str, object]]:
    values = measure.parameters
    for parameter in measure.definition.parameters:
        value = values[parameter.name]
        meaning = dict(parameter.choices).get(str(value), "") or parameter.description
        text = "from the scale" if value is None else str(value) if parameter.choices else numbers.grade_text(value)
        yield {
            "title": parameter.title,
            "value": text,
            "meaning": meaning,
            "default": value == parameter.default,
        }


def scale_text(scale: Sequence[Sequence[float | str]]) -> str:
    """Returns a scale in the notation of the form: `1:10`, or with labels `0 Poor, 1 Fair`."""
    if not any(label for _, label in scale) and all(float(b[0]) - float(a[0]) == 1 for a, b in pairwise(scale)):
        return f"{numbers.grade_text(scale[0][0])}:{numbers.grade_text(scale[-1][0])}"
    return ", ".join(f"{numbers.grade_text(grade)} {label}".strip() for grade, label in scale)


def history(versions: Sequence[ScorerVersion]) -> list[tuple[ScorerVersion, list[str]]]:
    """Returns the versions, newest first, each with its changes from the previous version."""
    newest_first = sorted(versions, key=lambda version: -version.number)
    changed = [changes(older, newer) for newer, older in pairwise(newest_first)]
    return list(zip(newest_first, [*changed, []], strict=True))


def changes(older: ScorerVersion, newer: ScorerVersion) -> list[str]:
    """Returns the changes between two versions, one phrase each."""
    phrases = []
    if older.measure != newer.measure and newer.measure:
        phrases.append(f"{older.measure or 'a script'} → {newer.measure}")
    elif newer.script and older.script != newer.script:
        before, after = (Counter(version.script.splitlines()) for version in (older, newer))
        more, less = sum((after - before).values()), sum((before - after).values())
        phrases.append(
            f"script: {more} line{'s' * (more != 1)} added, {less} removed" if older.script else "changed to a script"
        )
    if older.scale != newer.scale:
        phrases.append(f"scale {scale_text(older.scale)} → {scale_text(newer.scale)}")
    if newer.script and older.output_range != newer.output_range:
        phrases.append(f"score range {newer.get_output_range_display()}")
    if newer.script and older.cutoff != newer.cutoff:
        phrases.append(f"cutoff {newer.cutoff or 'as many as are displayed'}")
    if older.count_unscoreable_as_zero != newer.count_unscoreable_as_zero:
        phrases.append(
            "unscoreable queries count as 0"
            if newer.count_unscoreable_as_zero
            else "unscoreable queries excluded from the mean"
        )
    return phrases
