"""A measure with its parameters and cutoff, and its notation (that of ir-measures): `nDCG(gain='linear')@10`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from .definition import Definition, Parameter, Settings, Value
from .errors import MeasureError
from .registry import definitions

DEEPEST = 100_000
_WHOLE = re.compile(
    r"\s*(?P<name>[^\W\d]\w*)\s*(?:\((?P<parameters>[^()]*)\))?\s*(?:@\s*(?P<cutoff>.*?))?\s*", re.DOTALL
)
_ONE = re.compile(
    r"\s*(?P<name>[^\W\d]\w*)\s*=\s*(?:'(?P<single>[^']*)'|\"(?P<double>[^\"]*)\"|(?P<plain>[^'\"\s]+))\s*"
)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


@dataclass(frozen=True)
class Measure:
    """`changed`: the parameters that differ from their defaults, in the order of the definition.

    Make one with `parse_measure`, which checks every part. Equal measures compare and hash equal, however they were
    written.
    """

    name: str
    changed: tuple[tuple[str, Value], ...] = ()
    cutoff: int | None = None

    @property
    def definition(self) -> Definition:
        return definitions()[self.name]

    @property
    def parameters(self) -> dict[str, Value]:
        """All parameters, those left out with their default (None: taken from the scale)."""
        return {parameter.name: parameter.default for parameter in self.definition.parameters} | dict(self.changed)

    def settings(self, relevant_from: float) -> Settings:
        """The parameters with every gap filled."""
        values = self.parameters
        if "rel" in values and values["rel"] is None:
            values["rel"] = relevant_from
        return Settings(values)

    def depth(self, shown: int) -> int:
        """How many ranks it looks at when `shown` results are displayed: its cutoff, else all that are shown."""
        return self.cutoff or shown

    def reach(self) -> int | None:
        """How many results it must be given; None: all of them, since what stands below the cutoff counts too."""
        below = self.parameters.get("unrated") == "skip" or self.parameters.get("ideal") == "recall"
        return None if below else self.cutoff

    def formula(self) -> str:
        """The formula as LaTeX, with the cutoff and the parameters filled in; "" where the definition has none."""
        formula = self.definition.formula
        if isinstance(formula, str):
            return formula
        return formula(Settings(self.parameters), "k" if self.cutoff is None else str(self.cutoff))

    def __str__(self) -> str:
        written = ",".join(f"{name}={_written(value)}" for name, value in self.changed)
        cutoff = "" if self.cutoff is None else f"@{self.cutoff}"
        return f"{self.name}({written}){cutoff}" if written else f"{self.name}{cutoff}"


def parse_measure(text: str) -> Measure:
    """Reads `Name`, `Name@k`, `Name(parameter=value,…)@k`. `MeasureError` says what is wrong and what exists."""
    found = _WHOLE.fullmatch(text)
    if not found:
        raise MeasureError(f"The measure {text!r} cannot be read. Write it like nDCG@10, AP or P(rel=2)@5.")
    definition = _definition(found["name"])
    return _measure(definition, _parameters(definition, found["parameters"] or ""), found["cutoff"])


def write_measure(name: str, values: Mapping[str, str | float | None], cutoff: float | None = None) -> Measure:
    """The measure of a form's values: {parameter: value}, None or "" where it was left empty, hence its default.

    Checks what `parse_measure` checks, with the same `MeasureError`s: a measure or parameter that does not exist, a
    value outside its choices or limits, a cutoff that is 0, a fraction, missing or not taken. A number may be text.
    """
    definition = _definition(name)
    given: dict[str, Value] = {}
    for key, value in values.items():
        parameter = _parameter(definition, key)
        if value is not None and value != "":
            given[key] = _value(definition, parameter, None, str(value).strip())
    if cutoff is not None and float(cutoff).is_integer():
        cutoff = int(cutoff)
    return _measure(definition, given, None if cutoff is None else str(cutoff))


def _measure(definition: Definition, given: Mapping[str, Value], cutoff: str | None) -> Measure:
    changed = tuple(
        (parameter.name, given[parameter.name])
        for parameter in definition.parameters
        if parameter.name in given and given[parameter.name] != parameter.default
    )
    return Measure(definition.name, changed, _cutoff(definition, cutoff))


def _definition(name: str) -> Definition:
    known = definitions()
    if name in known:
        return known[name]
    close = difflib.get_close_matches(name.lower(), [each.lower() for each in known], n=1)
    meant = next((f" Did you mean {each}?" for each in known if close and each.lower() == close[0]), "")
    raise MeasureError(f"There is no measure {name!r}.{meant} There are: {', '.join(known)}.")


def _cutoff(definition: Definition, text: str | None) -> int | None:
    if text is None:
        if definition.cutoff == "required":
            raise MeasureError(f"{definition.name} needs a cutoff, such as {definition.name}@10.")
        return None
    if definition.cutoff == "none":
        raise MeasureError(f"{definition.name} looks at the whole ranking and takes no cutoff; leave @{text} out.")
    if not re.fullmatch(r"[0-9]{1,9}", text) or not 1 <= int(text) <= DEEPEST:
        raise MeasureError(f"The cutoff of {definition.name} must be a whole number from 1 to {DEEPEST}, not {text!r}.")
    return int(text)


def _parameters(definition: Definition, text: str) -> dict[str, Value]:
    given: dict[str, Value] = {}
    for part in text.split(",") if text.strip() else ():
        found = _ONE.fullmatch(part)
        if not found:
            raise MeasureError(
                f"The parameter {part.strip()!r} of {definition.name} cannot be read. Write name='word' or name=number."
            )
        parameter = _parameter(definition, found["name"])
        if parameter.name in given:
            raise MeasureError(f"{definition.name} is given the parameter {parameter.name!r} twice.")
        quoted = found["single"] if found["single"] is not None else found["double"]
        given[parameter.name] = _value(definition, parameter, quoted, found["plain"])
    return given


def _parameter(definition: Definition, name: str) -> Parameter:
    parameter = definition.parameter(name)
    if parameter is None:
        exist = ", ".join(each.name for each in definition.parameters) or "none"
        raise MeasureError(f"{definition.name} has no parameter {name!r}. It has: {exist}.")
    return parameter


def _value(definition: Definition, parameter: Parameter, quoted: str | None, plain: str | None) -> Value:
    where = f"The parameter {parameter.name!r} of {definition.name}"
    if parameter.choices:
        text = quoted if quoted is not None else str(plain)
        if text in (choice for choice, _ in parameter.choices):
            return text
        exist = ", ".join(repr(choice) for choice, _ in parameter.choices)
        raise MeasureError(f"{where} cannot be {text!r}. It can be: {exist}.")
    if plain is None or not _NUMBER.fullmatch(plain):
        raise MeasureError(f"{where} must be a number, not {plain if plain is not None else repr(quoted)}.")
    value = float(plain)
    outside = value < parameter.minimum or value > parameter.maximum or value == float("inf")
    if outside or (parameter.open_interval and value in (parameter.minimum, parameter.maximum)):
        if parameter.maximum == float("inf"):
            raise MeasureError(f"{where} must be a number of at least {parameter.minimum:g}, not {plain}.")
        how = "between" if parameter.open_interval else "from"
        to = "and" if parameter.open_interval else "to"
        raise MeasureError(f"{where} must lie {how} {parameter.minimum:g} {to} {parameter.maximum:g}, not {plain}.")
    return value


def _written(value: Value) -> str:
    if isinstance(value, str):
        return f"'{value}'"
    return str(int(value)) if value is not None and float(value).is_integer() else str(value)
