"""A measure with its parameters and its cutoff."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from .definition import Definition, Settings, Value
from .registry import get_definition


@dataclass(frozen=True)
class Measure:
    """A measure as data. `parse_measure` and `build_measure` create one and check every part of it.

    Equal measures compare and hash equal, however they were written. `str(measure)` is the notation of ir-measures:
    `nDCG(gain='linear')@10`.

    Attributes:
        name: the name of its definition.
        changed: (parameter, value) pairs that differ from the defaults, in the order of the definition.
        cutoff: how many results count; None for all that are displayed.
    """

    name: str
    changed: tuple[tuple[str, Value], ...] = ()
    cutoff: int | None = None

    @property
    def definition(self) -> Definition:
        """Raises `UnknownMeasure` if no installed package provides it."""
        return get_definition(self.name)

    @property
    def parameters(self) -> dict[str, Value]:
        """The values of all parameters, defaults included; a `rel` of None is taken from the scale."""
        return {parameter.name: parameter.default for parameter in self.definition.parameters} | dict(self.changed)

    def settings(self, relevant_from: float) -> Settings:
        """Returns the values of all parameters; `relevant_from` is used for a `rel` that is left out."""
        return _settings(self, relevant_from)

    def required_depth(self) -> int | None:
        """Returns how many results of each ranking it needs; None for all, if those below the cutoff matter as well."""
        looks_below = self.parameters.get("unrated") == "skip" or self.parameters.get("ideal") == "recall"
        return None if looks_below else self.cutoff

    def formula(self) -> str:
        """Returns the formula as LaTeX, with the cutoff and the parameters inserted; "" if the definition has none."""
        formula = self.definition.formula
        if isinstance(formula, str):
            return formula
        return formula(Settings(self.parameters), "k" if self.cutoff is None else str(self.cutoff))

    def __str__(self) -> str:
        parameters = ",".join(
            [
                f"{name}={(int(value) if isinstance(value, float) and value.is_integer() else value)!r}"
                for name, value in self.changed
            ]
        )
        cutoff = "" if self.cutoff is None else f"@{self.cutoff}"
        return f"{self.name}({parameters}){cutoff}" if parameters else f"{self.name}{cutoff}"


@lru_cache(maxsize=1000)
def _settings(measure: Measure, relevant_from: float) -> Settings:
    values = measure.parameters
    if "rel" in values and values["rel"] is None:
        values["rel"] = relevant_from
    return Settings(MappingProxyType(values))
