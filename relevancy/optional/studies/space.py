"""The space of a study: which knobs are varied, from where to where, and where their settings lie in it."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from relevancy.engines import KnobValue, knob_text, read_knob_value

MAX_KNOBS = 20
MAX_CHOICES = 50
MAX_GRID = 200  # points: a larger space is sampled
DIGITS = 4  # significant digits of a value: people read and copy them

type Settings = Mapping[str, KnobValue]
"""Values of knobs by their names."""


class Kind(StrEnum):
    """How a knob is varied. The values are written in commands and in the API."""

    LINEAR = "linear"
    LOG = "log"
    WHOLE = "whole"
    CHOICES = "choices"
    SWITCH = "switch"


class SpaceError(ValueError):
    """A space that cannot be searched. The message is written for users."""


@dataclass(frozen=True)
class Knob:
    """A knob and its values: from `low` to `high`, or one of `choices`, which are numbers or texts; a switch is 0 or 1.

    `position` and `value` map its values to 0 … 1 and back: evenly, by the logarithm, or by the place in the list. Of texts, the place
    says nothing about how far apart they are; see `distance`.
    """

    name: str
    kind: Kind
    low: float = 0.0
    high: float = 1.0
    choices: tuple[KnobValue, ...] = ()

    def __post_init__(self) -> None:
        """Raises `SpaceError`."""
        if self.kind == Kind.CHOICES:
            if not 2 <= len(set(self.choices)) == len(self.choices) <= MAX_CHOICES:
                raise SpaceError(f"Knob {self.name} needs 2 to {MAX_CHOICES} different values to choose from.")
            if any(not value if isinstance(value, str) else not math.isfinite(value) for value in self.choices):
                raise SpaceError(f"The values of knob {self.name} must be numbers or texts.")
        elif self.kind != Kind.SWITCH:
            if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
                raise SpaceError(
                    f"The highest value of knob {self.name}, {self.high:g}, must be above the lowest, {self.low:g}."
                )
            if self.kind == Kind.LOG and self.low <= 0:
                raise SpaceError(
                    f"Knob {self.name} is varied by its logarithm, so its lowest value, {self.low:g}, must be above 0."
                )
            if self.kind == Kind.WHOLE and not (self.low.is_integer() and self.high.is_integer()):
                raise SpaceError(f"Knob {self.name} has whole values, so its ends must be whole numbers.")

    @property
    def is_text(self) -> bool:
        """Whether it chooses between texts: numbers among them are values like the others."""
        return any(isinstance(value, str) for value in self.choices)

    @property
    def values(self) -> tuple[KnobValue, ...]:
        """All values, if they are few enough to be tried one by one; else empty."""
        if self.kind == Kind.SWITCH:
            return (0.0, 1.0)
        if self.kind == Kind.WHOLE and self.high - self.low < MAX_CHOICES:
            return tuple(float(value) for value in range(int(self.low), int(self.high) + 1))
        return self.choices

    def value(self, position: float) -> KnobValue:
        """Returns the value at a position from 0 to 1, with so many digits as people read."""
        position = min(max(float(position), 0.0), 1.0)  # numpy's floats are written in another way into requests
        if values := self.values:
            return values[min(int(position * len(values)), len(values) - 1)]
        if self.kind == Kind.WHOLE:
            return float(min(math.floor(self.low + position * (self.high - self.low + 1)), int(self.high)))
        if self.kind == Kind.LOG:
            found = math.exp(math.log(self.low) + position * (math.log(self.high) - math.log(self.low)))
        else:
            found = self.low + position * (self.high - self.low)
        # Of a linear knob, to the digits of its range: near 0, significant digits would tell settings apart that are not.
        step = math.floor(math.log10(abs(found) if self.kind == Kind.LOG else self.high - self.low))
        return min(max(round(found, DIGITS - 1 - step), self.low), self.high)

    def place(self, value: KnobValue) -> int:
        """Returns the place of a value, or of the nearest number, in the list of `values`, which must not be empty."""
        if self.is_text or isinstance(value, str):
            return self.values.index(value)
        return min(range(len(self.values)), key=lambda place: abs(float(self.values[place]) - value))

    def position(self, value: KnobValue) -> float:
        """Returns the position of a value, which may lie outside the range: then that of the nearest end."""
        if values := self.values:
            return self.place(value) / (len(values) - 1)
        value = float(value)
        if self.kind == Kind.LOG:
            bounded = min(max(value, self.low), self.high)
            return (math.log(bounded) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)

    def distance(self, value: KnobValue, other: KnobValue) -> float:
        """Returns how far apart two values are, 0 to 1: by their positions; texts are either equal or 1 apart."""
        return float(value != other) if self.is_text else abs(self.position(value) - self.position(other))

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "kind": self.kind.value, "choices": list(self.choices)}

    def __str__(self) -> str:
        """As commands take it: `title_boost=0.1:10:log`."""
        if self.kind == Kind.SWITCH:
            return f"{self.name}=switch"
        if self.kind == Kind.CHOICES:
            return f"{self.name}={write_choices(self.choices)}"
        ending = "" if self.kind == Kind.LINEAR else f":{self.kind}"
        return f"{self.name}={self.low:g}:{self.high:g}{ending}"


@dataclass(frozen=True)
class Space:
    """The knobs that a study varies. Raises `SpaceError` for none, too many, and two of one name."""

    knobs: tuple[Knob, ...]

    def __post_init__(self) -> None:
        names = [knob.name for knob in self.knobs]
        if not names:
            raise SpaceError("Choose at least one knob to vary.")
        if len(names) > MAX_KNOBS:
            raise SpaceError(f"{len(names)} knobs are too many: a study varies at most {MAX_KNOBS}.")
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise SpaceError(f"Knob {twice} is there twice.")

    @property
    def grid_size(self) -> int | None:
        """The number of all settings; None if a knob has too many values to try one by one."""
        sizes = [len(knob.values) for knob in self.knobs]
        return math.prod(sizes) if all(sizes) else None

    def grid(self) -> Iterator[dict[str, KnobValue]]:
        """Yields all settings, the last knob fastest. Only for spaces with a `grid_size`."""
        names = [knob.name for knob in self.knobs]
        for values in itertools.product(*(knob.values for knob in self.knobs)):
            yield dict(zip(names, values, strict=True))

    def settings(self, positions: Sequence[float]) -> dict[str, KnobValue]:
        """Returns the settings at a point of the unit cube."""
        return {knob.name: knob.value(position) for knob, position in zip(self.knobs, positions, strict=True)}

    def positions(self, settings: Settings) -> list[float]:
        """Returns the point of the unit cube of settings."""
        return [knob.position(settings[knob.name]) for knob in self.knobs]

    def distance(self, settings: Settings, other: Settings) -> float:
        """Returns how far apart two settings are: the length of the way between their points, in sides of the cube."""
        return math.hypot(*(knob.distance(settings[knob.name], other[knob.name]) for knob in self.knobs))

    def to_json(self) -> list[dict[str, Any]]:
        return [knob.to_json() for knob in self.knobs]

    @classmethod
    def from_json(cls, knobs: Sequence[Mapping[str, Any]]) -> Space:
        """Raises `SpaceError`."""
        return cls(tuple(read_knob(knob) for knob in knobs))


def read_knob(given: Mapping[str, Any]) -> Knob:
    """Returns a knob from JSON. Raises `SpaceError`."""
    name = str(given.get("name", ""))
    try:
        return Knob(
            name,
            Kind(given.get("kind", Kind.LINEAR)),
            float(given.get("low", 0.0)),
            float(given.get("high", 1.0)),
            tuple(value if isinstance(value, str) else float(value) for value in given.get("choices") or ()),
        )
    except SpaceError:
        raise
    except (TypeError, ValueError):
        kinds = ", ".join(Kind)
        raise SpaceError(f"Knob {name} cannot be read. It needs numbers, and one of the kinds {kinds}.") from None


def parse_choices(text: str) -> tuple[KnobValue, ...]:
    """Returns the values of a list with commas, or of a JSON list such as `["a,b", "c:d"]` for texts with commas or colons. What
    reads as a number is one, anything else is a text. Raises `SpaceError`."""
    if not text.strip().startswith("["):
        return tuple(read_knob_value(value) for value in text.split(",") if value.strip())
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SpaceError(f"{text} begins like a JSON list and is none: {error}.") from None
    if wrong := [value for value in values if isinstance(value, bool) or not isinstance(value, str | int | float)]:
        raise SpaceError(f"{json.dumps(wrong[0])} in {text} is neither a number nor a text in quotes.")
    return tuple(read_knob_value(str(value)) for value in values)


def write_choices(choices: Sequence[KnobValue], comma: str = ",") -> str:
    """Returns a list that `parse_choices` and `parse_knob` read: with commas where these do, else as JSON."""
    if any(isinstance(value, str) and re.search(r"[:,;]|^\[", value) for value in choices):
        return json.dumps(choices, ensure_ascii=False)
    return comma.join(map(knob_text, choices))


def parse_knob(text: str) -> Knob:
    """Returns a knob from `NAME=LOW:HIGH`, `NAME=LOW:HIGH:log` (or whole), `NAME=1,2,5`, `NAME=and,or`, `NAME=["a,b","c:d"]` or
    `NAME=switch`.

    Raises `SpaceError`.
    """
    name, _, values = text.partition("=")
    usage = (
        "Write NAME=LOW:HIGH, NAME=LOW:HIGH:log, NAME=LOW:HIGH:whole, NAME=1,2,5, NAME=and,or or NAME=switch; texts with commas or "
        'colons as NAME=["a,b","c:d"].'
    )
    if not name.strip() or not values.strip():
        raise SpaceError(f"“{text}” is no knob. {usage}")
    name, values = name.strip(), values.strip()
    try:
        if values == Kind.SWITCH:
            return Knob(name, Kind.SWITCH)
        if ":" not in values or values.startswith("["):
            return Knob(name, Kind.CHOICES, choices=parse_choices(values))
        low, high, *kind = values.split(":")
        if len(kind) > 1:
            raise ValueError(values)
        return Knob(name, Kind(*kind) if kind else Kind.LINEAR, float(low), float(high))
    except SpaceError:
        raise
    except ValueError:
        raise SpaceError(f"“{text}” is no knob. {usage}") from None
