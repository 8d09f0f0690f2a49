"""What describes a measure as data. Forms, docs and the API are drawn from it; the arithmetic is one function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from .arrays import FloatArray
from .reasons.facts import Facts, Reason
from .slots import Slots
from .workings.table import Working

Value = str | float | None
"""The value of a parameter; None is taken from the scale."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a measure.

    Attributes:
        name: as written in a measure: `gain`.
        title: as the label of a form field.
        description: one line of help.
        default: the value if it is left out; None is taken from the scale.
        choices: (value, description) pairs, the default first; empty for a number.
        minimum, maximum: the limits of a number.
        excludes_limits: whether the limits themselves are not allowed.
    """

    name: str
    title: str
    description: str
    default: Value
    choices: tuple[tuple[str, str], ...] = ()
    minimum: float = 0.0
    maximum: float = float("inf")
    excludes_limits: bool = False


@dataclass(frozen=True)
class Settings:
    """The values of all parameters of a measure, defaults included."""

    values: Mapping[str, Value]

    def choice(self, name: str) -> str:
        """Returns the value of a parameter that has choices."""
        return str(self.values[name])

    def number(self, name: str) -> float:
        """Returns the value of a parameter that is a number."""
        value = self.values[name]
        if value is None:
            raise TypeError(f"The parameter {name} has no value.")
        return float(value)

    @property
    def skips_unrated(self) -> bool:
        """Whether unrated documents are removed before ranks are counted."""
        return self.values.get("unrated") == "skip"


Compute = Callable[[Slots, Settings], FloatArray]
"""Slots of Q queries → [Q] values. The values of queries that are not scoreable are ignored."""

ComputeBounds = Callable[[Compute, Slots, Settings], tuple[FloatArray, FloatArray]]
"""→ [Q] lowest and [Q] highest value that rating the open slots could lead to."""

ToScores = Callable[[FloatArray, Slots, Settings], FloatArray]
"""[Q] values → [Q] scores from 0 to 100."""

Formula = Callable[[Settings, str], str]
"""Settings (`rel` is None if left out) and what to write for k, such as "10" or "k" → LaTeX."""

BuildWorking = Callable[[Slots, Settings], Working]
"""Slots of one query → a table that leads to its value. The value is computed from the table."""

ListReasons = Callable[[Facts, Settings], Sequence[Reason | None]]
"""Facts about one ranking → the reasons for its score, most important first; None where a reason does not apply."""

Needs = Literal["nothing", "relevant", "gain", "judged"]


@dataclass(frozen=True)
class Example:
    """A worked example.

    Attributes:
        measure: in its notation, such as "nDCG@6".
        grades: in rank order; None for an unrated document.
        unretrieved: grades of known documents that were not returned.
        scale: "LOWEST:HIGHEST".
        value: the result, to six decimals.
    """

    measure: str
    grades: tuple[float | None, ...]
    unretrieved: tuple[float, ...]
    scale: str
    value: float


def to_percent(values: FloatArray, _slots: Slots, _settings: Settings) -> FloatArray:
    """Returns values from 0 to 1 as scores from 0 to 100."""
    return 100.0 * values


def need_nothing(_settings: Settings) -> Needs:
    """Returns 'nothing'; for measures that give every query with ratings a value."""
    return "nothing"


def need_relevant(_settings: Settings) -> Needs:
    """Returns 'relevant'; for measures that are only defined if a relevant document is known."""
    return "relevant"


@dataclass(frozen=True)
class Definition:
    """A measure.

    Attributes:
        name: as written in a measure: `nDCG`.
        title: the name in words.
        description: one sentence.
        compute: the arithmetic.
        parameters: in the order in which they are written.
        cutoff: whether `@k` is 'optional', 'required' or not allowed ('none').
        needs: when a query with ratings is not scoreable: 'nothing' (never) · 'relevant' (no relevant document is
            known) · 'gain' (no grade above 0 is known) · 'judged' (results were returned, but none of the first k is
            rated).
        unrated_queries: whether a query without any rating is 'unscoreable' or scores 'zero'.
        bounds: computes the range of the score; None for measures without one.
        to_scores: converts values to scores from 0 to 100.
        formula: LaTeX, or a function that returns it for given parameters.
        advice: when to use the measure.
        pitfall: when it is misleading.
        example: a worked example.
        build_working: builds the table that leads to the value; without it, the table lists ranks and grades.
        list_reasons: lists the reasons for a score; without it, they are what is true for every measure.
    """

    name: str
    title: str
    description: str
    compute: Compute
    parameters: tuple[Parameter, ...] = ()
    cutoff: Literal["optional", "required", "none"] = "optional"
    needs: Callable[[Settings], Needs] = need_nothing
    unrated_queries: Literal["unscoreable", "zero"] = "unscoreable"
    bounds: ComputeBounds | None = None
    to_scores: ToScores = to_percent
    formula: str | Formula = ""
    advice: str = ""
    pitfall: str = ""
    example: Example | None = None
    build_working: BuildWorking | None = None
    list_reasons: ListReasons | None = None

    def parameter(self, name: str) -> Parameter | None:
        """Returns the parameter of this name, or None."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)


REL = Parameter(
    "rel", "Relevant from", "lowest grade that counts as relevant; if left out, the threshold of the book", None
)
UNRATED = Parameter(
    "unrated",
    "Unrated documents",
    "how documents without a rating are treated",
    "zero",
    (
        ("zero", "an unrated document keeps its rank and has no gain"),
        ("skip", "unrated documents are removed before ranks are counted"),
    ),
)
