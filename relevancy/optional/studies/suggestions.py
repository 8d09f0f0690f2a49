"""How the knobs of an attempt are usually varied: what the form of a new study begins with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from relevancy.cases import KnobRange
from relevancy.models import Attempt

from .space import Kind, Knob

# By words of a knob's name; the first one that fits decides. These are the names that engines give their parameters, and ends that
# are usual for them: of a boost its order of magnitude matters, of a tie breaker the whole range, of a window whole numbers.
PRESETS: tuple[tuple[str, str, Kind, float, float], ...] = (
    (r"use|enabled?|switch", "an on/off knob", Kind.SWITCH, 0, 1),
    (r"tie|tiebreaker", "a tie breaker", Kind.LINEAR, 0, 1),
    (r"slop|ps|ps2|ps3|qs", "a slop", Kind.WHOLE, 0, 10),
    (r"mm|minimum should match", "a minimum match in percent", Kind.WHOLE, 0, 100),
    (r"rrf|rank constant", "a constant of rank fusion", Kind.WHOLE, 10, 100),
    (r"fuzziness|edits", "a number of edits", Kind.WHOLE, 0, 2),
    (r"rows|window|rerank docs|num candidates|candidates|k", "a number of candidates", Kind.WHOLE, 10, 200),
    (r"alpha|lambda|mix|ratio|share|b", "a share", Kind.LINEAR, 0, 1),
    (r"k1", "a saturation of term frequency", Kind.LINEAR, 0.2, 3),
    (r"decay|scale", "a scale", Kind.LOG, 0.1, 10),
    (r"boost|weight|factor|qf|pf|pf2|pf3|bf|bq", "a boost", Kind.LOG, 0.1, 10),
)
AROUND = 10  # times the present value, where nothing else is known
DIGITS = 4


@dataclass(frozen=True)
class Suggestion:
    """A knob as it is usually varied. why: in words that follow “Range: ”."""

    knob: Knob
    why: str


def suggest_knobs(attempt: Attempt, ranges: Mapping[str, KnobRange]) -> dict[str, Suggestion]:
    """Returns how each knob of an attempt can be varied: within the range of its slider, if one was set.

    ranges: of the sliders of the case, by the name of the knob.
    """
    return {name: suggest_knob(name, float(value), ranges.get(name)) for name, value in attempt.knobs.items()}


def suggest_knob(name: str, value: float, slider: KnobRange | None = None) -> Suggestion:
    """Returns how a knob can be varied. value: its present one, which is always within the range."""
    preset = _find_preset(name)
    if slider is not None and slider.lowest <= value <= slider.highest:
        return Suggestion(_of_slider(name, slider, preset.kind if preset else Kind.LINEAR), "of its slider")
    if preset is not None and preset.low <= value <= preset.high:
        return Suggestion(preset, f"usual for {_describe_preset(name)}")
    return Suggestion(_around(name, value, preset.kind if preset else None), "around the present value")


def _words(name: str) -> str:
    return " ".join(re.findall(r"[a-z]+\d*|\d+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()))


def _matching(name: str) -> tuple[str, str, Kind, float, float] | None:
    words = _words(name)
    return next((preset for preset in PRESETS if re.search(rf"\b(?:{preset[0]})\b", words)), None)


def _find_preset(name: str) -> Knob | None:
    found = _matching(name)
    return found and Knob(name, *found[2:])


def _describe_preset(name: str) -> str:
    found = _matching(name)
    return found[1] if found else ""


def _of_slider(name: str, slider: KnobRange, kind: Kind) -> Knob:
    low, high, step = slider
    if kind == Kind.SWITCH and (low, high) == (0, 1):
        return Knob(name, Kind.SWITCH)
    if kind == Kind.WHOLE and all(float(part).is_integer() for part in slider):
        return Knob(name, Kind.WHOLE, low, high)
    if step == 1 and float(low).is_integer() and float(high).is_integer() and high - low > 1:
        return Knob(name, Kind.WHOLE, low, high)
    return Knob(name, Kind.LOG if kind == Kind.LOG and low > 0 else Kind.LINEAR, low, high)


def _around(name: str, value: float, kind: Kind | None) -> Knob:
    if value == 0 or (kind is None and 0 < value < 1):
        return Knob(name, Kind.LINEAR, 0, 1)
    if value < 0:
        return Knob(name, Kind.LINEAR, _short(2 * value), 0)
    if kind == Kind.WHOLE and value.is_integer():
        return Knob(name, Kind.WHOLE, 0, 2 * value)
    return Knob(name, Kind.LOG, _short(value / AROUND), _short(value * AROUND))


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
