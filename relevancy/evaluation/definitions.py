"""Which measures there are, and whether a definition of a scorer can be used: what forms and pages are drawn from."""

from collections.abc import Iterable, Mapping
from typing import Any

from relevancy import sandbox, scoring
from relevancy.sandbox.reference import REFERENCE

from .scorers import Draft, measure_of


def measures() -> Mapping[str, scoring.Definition]:
    """Every measure by its name, those of installed packages included."""
    return scoring.definitions()


def script_reference() -> Iterable[Any]:
    """What a script can call, for the page."""
    return REFERENCE


def check(draft: Draft) -> Draft:
    """The definition as it is stored: a measure in its shortest notation, a script with the depth it declares itself.

    Raises `ScoringError` for an unknown measure, parameter or cutoff, `ScriptError` (with line and column) for a script
    that cannot be read.
    """
    if not draft.script:
        return Draft(measure=str(scoring.parse_measure(draft.measure)), scale=draft.scale,
                     count_unscoreable_as_zero=draft.count_unscoreable_as_zero)  # fmt: skip
    script = draft.script.replace("\r\n", "\n")
    sandbox.check(script)
    depth = draft.depth or sandbox.declared_depth(script)
    return Draft("", script, draft.scale, draft.gives, depth, draft.count_unscoreable_as_zero)


def write_measure(name: str, values: Mapping[str, Any], cutoff: int | None) -> str:
    """A measure in the field's notation out of a form's values. Raises `ScoringError`."""
    return str(scoring.write_measure(name, values, cutoff))


def formula(measure: str) -> str:
    """The formula of a measure as LaTeX, its parameters filled in; "" where it has none. Raises `ScoringError`."""
    return measure_of(measure).formula()
