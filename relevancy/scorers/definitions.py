"""What forms and pages need to know about measures and scripts."""

from collections.abc import Mapping, Sequence
from typing import Any

from relevancy import sandbox, scoring


def measures() -> Mapping[str, scoring.Definition]:
    """Returns every measure by name, including those of installed packages."""
    return scoring.get_definitions()


def script_reference() -> Sequence[sandbox.ReferenceEntry]:
    """Returns the functions that a script can call."""
    return sandbox.REFERENCE


def write_measure(name: str, values: Mapping[str, Any], cutoff: int | None) -> str:
    """Returns a measure with the values of a form in standard notation. Raises `ScoringError`."""
    return str(scoring.build_measure(name, values, cutoff))


def parse_measure(measure: str) -> scoring.Measure:
    """Returns the measure for its notation, such as "nDCG@10". Raises `ScoringError`."""
    return scoring.parse_measure(measure)
