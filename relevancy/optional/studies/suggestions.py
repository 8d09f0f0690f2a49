"""How the knobs of an attempt are usually varied: what the form of a new study begins with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from relevancy import engines
from relevancy.cases import KnobRange
from relevancy.engines import KnobValue
from relevancy.engines.templates.slots import Slot
from relevancy.engines.templates.template import MixedText
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
    (r"fuzziness|fuzzy|edits", "a number of edits", Kind.WHOLE, 0, 2),
    (r"rows|window|rerank docs|num candidates|candidates|k", "a number of candidates", Kind.WHOLE, 10, 200),
    (r"alpha|lambda|mix|ratio|share|weights|b", "a share", Kind.LINEAR, 0, 1),
    (r"k1", "a saturation of term frequency", Kind.LINEAR, 0.2, 3),
    (r"decay|scale", "a scale", Kind.LOG, 0.1, 10),
    (r"boost|weight|factor|qf|pf|pf2|pf3|bf|bq", "a boost", Kind.LOG, 0.1, 10),
)
# By the end of the place in the template whose whole value a knob is, see `find_places`; the names are those of the engines.
CHOICES: tuple[tuple[str, str, tuple[KnobValue, ...]], ...] = (
    (r"mm|minimum_should_match", "a minimum match", (1.0, "2<75%", "75%", "100%")),
    (r"q\.op", "an operator", ("OR", "AND")),
    (r"(default_)?operator", "an operator", ("or", "and")),
    (r"multi_match/type", "a kind of multi_match", ("best_fields", "most_fields", "cross_fields")),
    (r"^/type", "a kind of search", ("best_fields", "most_fields")),
    (r"normalization/technique", "a normalization of scores", ("min_max", "l2")),
    (r"combination/technique", "a combination of scores", ("arithmetic_mean", "geometric_mean", "harmonic_mean")),
    (r"normalizer", "a normalization of scores", ("none", "minmax", "l2_norm")),
    (r"rescore/query/score_mode", "a combination of scores", ("total", "multiply", "avg", "max")),
    (r"function_score/score_mode", "a combination of functions", ("multiply", "sum", "avg", "max")),
    (r"boost_mode", "a combination of scores", ("multiply", "sum", "replace", "avg")),
    (r"reRankOperator", "a combination of scores", ("add", "multiply", "replace")),
    (r"defType", "a query parser", ("edismax", "dismax")),
    (r"fuzziness", "a number of edits", (0.0, 1.0, 2.0, "AUTO")),
)
_LOCAL_PARAMETER = re.compile(r"([\w.]+)=[\"']?$")
AROUND = 10  # times the present value, where nothing else is known
DIGITS = 4


@dataclass(frozen=True)
class Suggestion:
    """A knob as it is usually varied; None for a text that nothing is known about. why: in words that follow “Range: ”."""

    knob: Knob | None
    why: str


def suggest_knobs(attempt: Attempt, ranges: Mapping[str, KnobRange]) -> dict[str, Suggestion]:
    """Returns how each knob of an attempt can be varied: within the range of its slider, if one was set.

    ranges: of the sliders of the case, by the name of the knob.
    """
    adapter = engines.find(attempt.endpoint.engine)
    places = find_places(engines.parse_template(attempt.template, adapter.syntax)) if adapter else {}
    return {
        name: suggest_knob(name, value, ranges.get(name), places.get(name, "")) for name, value in attempt.knobs.items()
    }


def find_places(template: engines.Template) -> dict[str, str]:
    """Returns where a knob is the whole of a value: the names that lead there, such as `/query/multi_match/type`."""
    places: dict[str, str] = {}

    def walk(node: Any, place: str) -> None:
        if isinstance(node, Slot) and node.root == "knob":
            places.setdefault(node.path[0], place)
        elif isinstance(node, MixedText):
            for before, part, after in zip(("", *node.parts), node.parts, (*node.parts[1:], ""), strict=False):
                name = _LOCAL_PARAMETER.search(before) if isinstance(before, str) else None
                if name and isinstance(after, str) and after[:1] in ("", " ", "}", '"', "'"):
                    walk(part, f"{place}/{name[1]}")
        elif isinstance(node, dict):
            for name, value in node.items():
                walk(value, f"{place}/{name}")
        elif isinstance(node, list):
            for item in node:
                walk(item, place)

    walk(template.body, "")
    for parameter in template.parameters:
        walk(parameter.value, f"/{parameter.name}")
    return places


def suggest_knob(name: str, value: KnobValue, slider: KnobRange | None = None, place: str = "") -> Suggestion:
    """Returns how a knob can be varied. value: its present one, which is always within the range or among the values. place: in the
    template, if it is the whole of a value there."""
    if (slider is None or isinstance(value, str)) and (found := _find_choices(name, value, place)):
        return found
    if isinstance(value, str):
        return Suggestion(None, "enter other texts, separated by commas")
    matching = _matching(name) or _matching(place.rpartition("/")[2])
    preset = Knob(name, *matching[2:]) if matching else None
    if slider is not None and slider.lowest <= value <= slider.highest:
        return Suggestion(_of_slider(name, slider, preset.kind if preset else Kind.LINEAR), "of its slider")
    if matching and preset and preset.low <= value <= preset.high:
        return Suggestion(preset, f"usual for {matching[1]}")
    return Suggestion(_around(name, float(value), preset.kind if preset else None), "around the present value")


def _find_choices(name: str, value: KnobValue, place: str) -> Suggestion | None:
    """Returns the usual values of what has its value at a place; None if single values are not usual there."""
    for end, what, choices in CHOICES:
        if re.search(rf"(?:^|/)(?:{end})$", place):
            values = choices if value in choices else (value, *choices)
            return Suggestion(Knob(name, Kind.CHOICES, choices=values), f"usual for {what}")
    return None


def _words(name: str) -> str:
    return " ".join(re.findall(r"[a-z]+\d*|\d+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()))


def _matching(name: str) -> tuple[str, str, Kind, float, float] | None:
    words = _words(name)
    return next((preset for preset in PRESETS if re.search(rf"\b(?:{preset[0]})\b", words)), None)


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
