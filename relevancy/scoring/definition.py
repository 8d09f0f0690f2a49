"""A measure described as data. Its arithmetic is one function beside it; forms, docs and the API are drawn from this."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from .arrays import FloatArray
from .facts import Facts, Reason
from .slots import Slots
from .table import Working

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

Formula = Callable[["Settings", str], str]
"""Settings (`rel` may be None: the book's) and what to write for k, "10" or "k" → LaTeX."""

ShowWorking = Callable[[Slots, Settings], Working]
"""Slots of one query → its table, with a result computed from the table."""

GiveReasons = Callable[[Facts, Settings], Sequence[Reason | None]]
"""What is known of one ranking → what explains its score, the most telling first; None where a fact is not the case."""


@dataclass(frozen=True)
class Example:
    """A worked example: `measure` as it is written, `grades` in rank order (None: unrated), the grades of known
    documents that are not returned, the scale "LO:HI", and the value that comes out, to six decimals."""

    measure: str
    grades: tuple[float | None, ...]
    extra: tuple[float, ...]
    scale: str
    value: float


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

    What explains it, all of it optional: `formula` is LaTeX, or a function of the settings (see `Formula`); `advice`
    and `pitfall` say when to use it and when it misleads; `working` and `reasons` show and explain one score.
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
    formula: str | Formula = ""
    advice: str = ""
    pitfall: str = ""
    example: Example | None = None
    working: ShowWorking | None = None
    reasons: GiveReasons | None = None

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
