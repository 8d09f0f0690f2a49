"""What the pages show of a definition: its formula, a worked example, its parameters, what changed between versions."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from relevancy import evaluation
from relevancy.evaluation import Draft, ScoringError, Tried
from relevancy.models import ScorerVersion
from relevancy.templatetags import numbers

# Where on a scale, 0 to 1, the grades of a made-up ranking lie; None: unrated.
PATTERN = (1.0, 0.78, 0.89, None, 0.44, 0.0, 0.33, None, None, None)


@dataclass(frozen=True)
class Setting:
    """One parameter of a measure: its value as it is written, what that means, and whether it is the default."""

    title: str
    value: str
    meaning: str
    default: bool


@dataclass(frozen=True)
class About:
    """A measure as its page shows it. `example` None: it could not be worked."""

    definition: Any
    formula: str
    settings: Sequence[Setting]
    cutoff: int | None
    example: Tried | None
    grades: str
    known: str


def about(measure: str) -> About | None:
    """What there is to say of a measure; None for one that is not installed here (any more) or cannot be read."""
    try:
        read = evaluation.measure_of(measure)
        formula = evaluation.formula(measure)
    except ScoringError:
        return None
    definition = read.definition
    grades, known, scale = _example_of(definition)
    try:
        example = evaluation.try_typed(Draft(measure=measure), grades=grades, known=known, scale=scale)
    except ScoringError:
        example = None
    return About(definition, formula, list(_settings(read)), read.cutoff, example, grades, known)


def _example_of(definition: Any) -> tuple[str, str, str]:
    if definition.example is None:
        return as_typed([[grade, ""] for grade in range(4)]), "", "0:3"
    example = definition.example
    return written(example.grades), written(example.extra), example.scale


def written(grades: Sequence[float | None]) -> str:
    """Grades as they are typed: 3 2 - 1."""
    return " ".join("-" if grade is None else numbers.grade_text(grade) for grade in grades)


def as_typed(scale: Sequence[Sequence[Any]]) -> str:
    """A ranking on a scale, to begin with on the test bench."""
    lowest, top = float(scale[0][0]), float(scale[-1][0])
    return written([None if at is None else float(round(lowest + at * (top - lowest))) for at in PATTERN])


def _settings(measure: Any) -> Iterator[Setting]:
    values = measure.parameters
    for parameter in measure.definition.parameters:
        value = values[parameter.name]
        meaning = dict(parameter.choices).get(value, "") or parameter.description
        shown = "the book’s" if value is None else str(value) if parameter.choices else numbers.grade_text(value)
        yield Setting(parameter.title, shown, meaning, value == parameter.default)


def scale_text(scale: Sequence[Sequence[Any]]) -> str:
    """A scale as it is typed: 1:10, or with labels 0 Poor, 1 Fair."""
    if not any(label for _, label in scale) and all(float(b[0]) - float(a[0]) == 1 for a, b in pairwise(scale)):
        return f"{numbers.grade_text(scale[0][0])}:{numbers.grade_text(scale[-1][0])}"
    return ", ".join(f"{numbers.grade_text(grade)} {label}".strip() for grade, label in scale)


def history(versions: Sequence[ScorerVersion]) -> list[tuple[ScorerVersion, list[str]]]:
    """The versions, newest first, each with what it changed of the one before."""
    rows = sorted(versions, key=lambda version: -version.number)
    changed = [changes(older, newer) for newer, older in pairwise(rows)]
    return list(zip(rows, [*changed, []], strict=True))


def changes(older: ScorerVersion, newer: ScorerVersion) -> list[str]:
    """What a version changed, one phrase each."""
    found = []
    if older.measure != newer.measure and newer.measure:
        found.append(f"{older.measure or 'a script'} → {newer.measure}")
    elif newer.script and older.script != newer.script:
        before, after = (Counter(version.script.splitlines()) for version in (older, newer))
        more, less = sum((after - before).values()), sum((before - after).values())
        found.append(f"script: {more} line{'s' * (more != 1)} new, {less} gone" if older.script else "a script now")
    if older.scale != newer.scale:
        found.append(f"scale {scale_text(older.scale)} → {scale_text(newer.scale)}")
    if newer.script and older.gives != newer.gives:
        found.append(f"gives {newer.get_gives_display()}")
    if newer.script and older.depth != newer.depth:
        found.append(f"looks at {newer.depth or 'as many as are shown'}")
    if older.count_unscoreable_as_zero != newer.count_unscoreable_as_zero:
        found.append(
            "unscoreable queries count as 0" if newer.count_unscoreable_as_zero else "unscoreable queries left out"
        )
    return found
