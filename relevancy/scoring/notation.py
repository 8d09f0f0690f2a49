"""Parses the notation of measures (that of ir-measures): `nDCG@10`, `nDCG(gain='linear')@10`, `AP`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from .definition import Definition, Parameter, Value
from .errors import MeasureError
from .measure import Measure
from .registry import get_definition

MAX_CUTOFF = 100_000
_MEASURE = re.compile(
    r"\s*(?P<name>[^\W\d]\w*)\s*(?:\((?P<parameters>[^()]*)\))?\s*(?:@\s*(?P<cutoff>.*?))?\s*", re.DOTALL
)
_PARAMETER = re.compile(
    r"\s*(?P<name>[^\W\d]\w*)\s*=\s*(?:'(?P<single>[^']*)'|\"(?P<double>[^\"]*)\"|(?P<plain>[^'\"\s]+))\s*"
)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


@lru_cache(maxsize=1000)
def parse_measure(text: str) -> Measure:
    """Parses `Name`, `Name@k` or `Name(parameter=value,…)@k`.

    Raises `UnknownMeasure` if no installed package provides the measure, and `MeasureError` for an invalid parameter,
    value or cutoff; both say what exists.
    """
    match = _MEASURE.fullmatch(text)
    if not match:
        raise MeasureError(f"{text!r} is not a measure. Write it like nDCG@10, AP or P(rel=2)@5.")
    definition = get_definition(match["name"])
    return _build(definition, _parse_parameters(definition, match["parameters"] or ""), match["cutoff"])


def build_measure(name: str, values: Mapping[str, str | float | None], cutoff: float | None = None) -> Measure:
    """Returns the measure with these parameters, such as the fields of a form.

    `values`: {parameter: value}; None or "" means the default, and a number may be a string. Raises the same errors as
    `parse_measure`.
    """
    definition = get_definition(name)
    given: dict[str, Value] = {}
    for key, value in values.items():
        parameter = _get_parameter(definition, key)
        if value is not None and value != "":
            given[key] = _parse_value(definition, parameter, None, str(value).strip())
    if cutoff is not None and float(cutoff).is_integer():
        cutoff = int(cutoff)
    return _build(definition, given, None if cutoff is None else str(cutoff))


def _build(definition: Definition, given: Mapping[str, Value], cutoff: str | None) -> Measure:
    changed = tuple(
        (parameter.name, given[parameter.name])
        for parameter in definition.parameters
        if parameter.name in given and given[parameter.name] != parameter.default
    )
    return Measure(definition.name, changed, _parse_cutoff(definition, cutoff))


def _parse_cutoff(definition: Definition, text: str | None) -> int | None:
    if text is None:
        if definition.cutoff == "required":
            raise MeasureError(f"{definition.name} needs a cutoff, such as {definition.name}@10.")
        return None
    if definition.cutoff == "none":
        raise MeasureError(f"{definition.name} uses the whole ranking and takes no cutoff. Remove @{text}.")
    if not re.fullmatch(r"[0-9]{1,9}", text) or not 1 <= int(text) <= MAX_CUTOFF:
        raise MeasureError(
            f"The cutoff of {definition.name} must be a whole number from 1 to {MAX_CUTOFF}, not {text!r}."
        )
    return int(text)


def _parse_parameters(definition: Definition, text: str) -> dict[str, Value]:
    given: dict[str, Value] = {}
    for part in text.split(",") if text.strip() else ():
        match = _PARAMETER.fullmatch(part)
        if not match:
            raise MeasureError(
                f"The parameter {part.strip()!r} of {definition.name} is not valid. Write name='word' or name=number."
            )
        parameter = _get_parameter(definition, match["name"])
        if parameter.name in given:
            raise MeasureError(f"{definition.name} has the parameter {parameter.name!r} twice.")
        quoted = match["single"] if match["single"] is not None else match["double"]
        given[parameter.name] = _parse_value(definition, parameter, quoted, match["plain"])
    return given


def _get_parameter(definition: Definition, name: str) -> Parameter:
    parameter = definition.parameter(name)
    if parameter is None:
        names = ", ".join(parameter.name for parameter in definition.parameters) or "none"
        raise MeasureError(f"{definition.name} has no parameter {name!r}. Its parameters: {names}.")
    return parameter


def _parse_value(definition: Definition, parameter: Parameter, quoted: str | None, plain: str | None) -> Value:
    subject = f"The parameter {parameter.name!r} of {definition.name}"
    if parameter.choices:
        text = quoted if quoted is not None else str(plain)
        if text in (choice for choice, _ in parameter.choices):
            return text
        choices = ", ".join(repr(choice) for choice, _ in parameter.choices)
        raise MeasureError(f"{subject} cannot be {text!r}. It can be: {choices}.")
    if plain is None or not _NUMBER.fullmatch(plain):
        raise MeasureError(f"{subject} must be a number, not {plain if plain is not None else repr(quoted)}.")
    value = float(plain)
    is_outside = value < parameter.minimum or value > parameter.maximum or value == float("inf")
    if is_outside or (parameter.excludes_limits and value in (parameter.minimum, parameter.maximum)):
        if parameter.maximum == float("inf"):
            raise MeasureError(f"{subject} must be a number of at least {parameter.minimum:g}, not {plain}.")
        limits = (
            f"greater than {parameter.minimum:g} and less than {parameter.maximum:g}"
            if parameter.excludes_limits
            else f"from {parameter.minimum:g} to {parameter.maximum:g}"
        )
        raise MeasureError(f"{subject} must be a number {limits}, not {plain}.")
    return value
