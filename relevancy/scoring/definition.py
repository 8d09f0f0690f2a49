"""A measure described as data. Its arithmetic is one function beside it; forms, docs and the API are drawn from this."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from .arrays import FloatArray
from .slots import Slots

Value = str | float | None


@dataclass(frozen=True)
class Parameter:
    """One parameter of a measure.

    `choices`: (value, description) pairs, the default first; empty for a number, which then lies between `minimum`
    and `maximum` (both themselves excluded where `open_interval`). A `default` of None is filled from the scale.
    """

    name: str
    title: str
    description: str
    default: Value
    choices: tuple[tuple[str, str], ...] = ()
    minimum: float = 0.0
    maximum: float = float("inf")
    open_interval: bool = False


@dataclass(frozen=True)
class Settings:
    """The values of a measure's parameters, with those left out filled in."""

    values: Mapping[str, Value]

    def choice(self, name: str) -> str:
        return str(self.values[name])

    def number(self, name: str) -> float:
        value = self.values[name]
        if value is None:
            raise TypeError(f"parameter {name} has no value yet")
        return float(value)


Compute = Callable[[Slots, Settings], FloatArray]
"""Slots of Q queries → one value per query. Need not care for queries that are not scoreable."""

Bounds = Callable[[Compute, Slots, Settings], tuple[FloatArray, FloatArray]]
"""→ lowest and highest value per query that rating the open slots could give."""

Points = Callable[[FloatArray, Slots, Settings], FloatArray]
"""Values → scores 0–100."""


def per_cent(values: FloatArray, _slots: Slots, _settings: Settings) -> FloatArray:
    """Values 0…1 as scores 0–100."""
    return 100.0 * values


@dataclass(frozen=True)
class Definition:
    """What a measure is.

    `needs` says when a query with ratings is not scoreable: 'nothing' (never) · 'relevant' (no known document is
    relevant) · 'gain' (no known grade above 0) · 'judged' (something returned, nothing of it rated). It may be a
    function of the settings. `unrated_queries`: a query without any rating is 'unscoreable' or 'zero'.
    `cutoff`: whether `@k` may be given. `bounds`: None where there are none.
    """

    name: str
    title: str
    description: str
    compute: Compute
    parameters: tuple[Parameter, ...] = ()
    cutoff: Literal["optional", "required", "none"] = "optional"
    needs: Callable[[Settings], Needs] = lambda _settings: "nothing"
    unrated_queries: Literal["unscoreable", "zero"] = "unscoreable"
    bounds: Bounds | None = None
    points: Points = per_cent

    def parameter(self, name: str) -> Parameter | None:
        return next((parameter for parameter in self.parameters if parameter.name == name), None)


Needs = Literal["nothing", "relevant", "gain", "judged"]

REL = Parameter(
    "rel", "Relevant from", "lowest grade that counts as relevant; left out, the book's own threshold", None
)
UNRATED = Parameter(
    "unrated",
    "Unrated documents",
    "what becomes of a document that nobody has rated",
    "zero",
    (
        ("zero", "keeps its slot and gains nothing"),
        ("skip", "is taken out and the gap closed before ranks are counted"),
    ),
)
