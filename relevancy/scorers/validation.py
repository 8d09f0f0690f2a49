"""Validation of a scorer's definition before it is stored."""

from dataclasses import replace
from itertools import pairwise

from django.core.exceptions import ValidationError

from relevancy import sandbox, scoring
from relevancy.models import ScorerDefinition, ScorerVersion
from relevancy.models.errors import error_text, located_error
from relevancy.models.text import normalize_line, unify_newlines, validate_line, validate_text

MAX_LABEL = 200
MAX_CUTOFF = 1_000  # results that a script can consider


def check(definition: ScorerDefinition) -> ScorerDefinition:
    """Returns the definition as it is stored: a measure in its shortest notation, a script with the cutoff it declares.

    Raises `ValidationError` naming the field, for a script with line and column.
    """
    _check_scale(definition)
    _check_script(definition)
    if bool(definition.measure) == bool(definition.script.strip()):
        raise ValidationError({"measure": "A scorer is either a measure or a script."})
    try:
        return normalize(definition)
    except sandbox.ScriptError as error:
        raise located_error("script", str(error), line=error.line, column=error.column) from None
    except sandbox.SandboxError as error:
        raise ValidationError({"script": str(error)}) from None
    except scoring.ScoringError as error:
        raise ValidationError({"measure": str(error)}) from None


def _check_scale(definition: ScorerDefinition) -> None:
    grades = definition.grades
    if any(higher - lower != 1 for lower, higher in pairwise(grades)):
        listed = ", ".join(f"{grade:g}" for grade in grades)
        message = f"The scale {listed} has a gap. Its grades must be whole numbers without gaps, such as 0, 1, 2, 3."
        raise ValidationError({"scale": message})
    for grade, label in definition.scale:
        if len(label) > MAX_LABEL:
            message = f"The label of grade {grade:g} has {len(label)} characters; at most {MAX_LABEL} are allowed."
            raise ValidationError({"scale": message})
        try:
            validate_line(normalize_line(label))
        except ValidationError as error:
            raise ValidationError({"scale": f"The label of grade {grade:g}: {error_text(error)}"}) from None


def _check_script(definition: ScorerDefinition) -> None:
    try:
        validate_text(unify_newlines(definition.script))
    except ValidationError as error:
        raise ValidationError({"script": error_text(error)}) from None
    if definition.cutoff is not None and not 1 <= definition.cutoff <= MAX_CUTOFF:
        message = f"A script cannot consider {definition.cutoff:,} results. Choose 1 to {MAX_CUTOFF:,}."
        raise ValidationError({"cutoff": message})
    if definition.output_range not in ScorerVersion.OutputRange.values:
        message = f"{definition.output_range!r} is not a range of scores. Choose 100 (0–100) or 1 (0–1)."
        raise ValidationError({"output_range": message})


def normalize(definition: ScorerDefinition) -> ScorerDefinition:
    """Returns a measure in its shortest notation, a script with the cutoff it declares; the scale is not validated.

    Raises `ScoringError` for an unknown measure, parameter or cutoff, and `ScriptError` with line and column.
    """
    definition = replace(definition, scale=[list(step) for step in definition.scale])
    if definition.measure:
        measure = str(scoring.parse_measure(definition.measure))
        return replace(
            definition, measure=measure, script="", output_range=ScorerVersion.OutputRange.HUNDRED, cutoff=None
        )
    script = unify_newlines(definition.script)
    sandbox.check(script)
    return replace(definition, script=script, cutoff=definition.cutoff or sandbox.find_declared_depth(script))
