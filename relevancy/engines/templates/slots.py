"""Slots: the parts of a query template that are filled for each query, `#$query##` and so on, and knobs `##name##`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, cast

from relevancy.engines.errors import BadQuery, TemplateError
from relevancy.engines.types import KnobValue

# A default may contain anything that does not end the parameter, the JSON string or the line that it is part of.
SLOT = re.compile(r'#\$(?P<path>[A-Za-z0-9_.]+)(?:\|(?P<default>[^#&"\\\r\n]*))?##|##(?P<knob>[A-Za-z0-9_]+)##')
INCOMPLETE_SLOT = re.compile(r"#\$|##")
SLOT_EXAMPLES = (
    "#$query##, #$keyword1## (or #$keyword.0##), #$qOption.name## (or #$qOption.name|default##) or a knob such as "
    "##title_boost##"
)

Root = Literal["query", "keyword", "qOption", "knob"]

_LUCENE_CHARACTERS = re.compile(r'[+\-&|!(){}\[\]^"~*?:\\/]')
_LUCENE_OPERATORS = re.compile(r"(?<!\S)(and|or|not)(?!\S)", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_NUMBERED_KEYWORD = re.compile(r"keyword([1-9][0-9]{0,8})")


@dataclass(frozen=True)
class Slot:
    """One placeholder or knob in a template.

    `root`: what it is filled from.
    `path`: names and list indexes below the root.
    `default`: text to use without a value, None if the slot gives none.
    `text`: the slot as written.
    `bare`: it is outside any JSON string.
    """

    root: Root
    path: tuple[str, ...]
    default: str | None
    text: str
    line: int
    column: int
    bare: bool = False


@dataclass(frozen=True)
class SlotValues:
    """Values for the slots of one query."""

    query: str
    keywords: tuple[str, ...]
    options: Mapping[str, Any]
    knobs: Mapping[str, KnobValue] = field(default_factory=dict)


def read_knob_value(text: str) -> KnobValue:
    """Returns the number that a text reads as, infinite for 1e999; the text itself, without blanks around it, if it is no number."""
    text = text.strip()
    return float(text) if _NUMBER.fullmatch(text) else text


def knob_text(value: KnobValue) -> str:
    """Returns a value of a knob as people enter it: 2, 0.35, 2<75%."""
    return value if isinstance(value, str) else f"{value:g}"


def slot_values(query: str, options: Mapping[str, Any], knobs: Mapping[str, KnobValue], *, escape: bool) -> SlotValues:
    """Splits the query into keywords at blanks and commas. `escape`: escapes query and keywords for Lucene's syntax."""
    keywords = tuple(word for word in re.split(r"[ ,]+", query) if word)
    if escape:
        return SlotValues(escape_lucene(query), tuple(map(escape_lucene, keywords)), options, knobs)
    return SlotValues(query, keywords, options, knobs)


def escape_lucene(text: str) -> str:
    """Escapes a text so that Lucene's query parsers see only words: no operators, ranges, wildcards or regular expressions.

    Also escapes the words and, or, not: edismax treats them as operators in upper and lower case.
    """
    return _LUCENE_OPERATORS.sub(r"\\\1", _LUCENE_CHARACTERS.sub(r"\\\g<0>", text))


def find_slots(text: str, *, json_strings: bool) -> list[tuple[re.Match[str], Slot]]:
    """Returns all slots of a template in order. `json_strings`: recognize slots outside strings as bare.

    Raises `TemplateError` for a malformed or unknown slot.
    """
    slots = []
    end = 0
    for match, bare in _scan_json(text) if json_strings else ((match, False) for match in SLOT.finditer(text)):
        _check_no_incomplete_slot(text, end, match.start())
        slots.append((match, _slot(match, bare)))
        end = match.end()
    _check_no_incomplete_slot(text, end, len(text))
    return slots


def location(text: str, offset: int) -> tuple[int, int]:
    """Returns line and column of an offset, both counted from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def fill(slot: Slot, values: SlotValues) -> Any:
    """Returns the value of a slot with its JSON type. Raises `BadQuery` if it has none."""
    if slot.root == "query":
        return values.query
    if slot.root == "knob":
        return _knob_value(slot, values.knobs)
    source: Any = list(values.keywords) if slot.root == "keyword" else values.options
    value = _descend(source, slot.path)
    if value is not None:
        return value
    if slot.default is not None:
        return _parse_bare_default(slot.default) if slot.bare else slot.default
    if slot.root == "keyword":
        return ""
    name = ".".join(slot.path)
    raise BadQuery(
        f"The template uses {slot.text} (line {slot.line}, column {slot.column}), but the query has no option “{name}”.",
        hint=f"Add it to the options of the query, the case or the endpoint, or give a default: #$qOption.{name}|default##.",
    )


def as_text(value: Any) -> str:
    """Returns a value as part of a text: whole numbers without `.0`, lists joined by commas, objects as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return format(Decimal(int(value) if value.is_integer() else repr(value)), "f")
    if isinstance(value, list | tuple) and not any(isinstance(item, list | tuple | Mapping) for item in value):
        return ",".join(map(as_text, value))
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _scan_json(text: str) -> Iterator[tuple[re.Match[str], bool]]:
    """Yields the slots of a JSON text, each with whether it is outside the strings."""
    in_string = False
    offset = 0
    while offset < len(text):
        if match := SLOT.match(text, offset):
            yield match, not in_string
            offset = match.end()
            continue
        if text[offset] == '"':
            in_string = not in_string
        offset += 2 if in_string and text[offset] == "\\" else 1


def _slot(match: re.Match[str], bare: bool) -> Slot:
    line, column = location(match.string, match.start())
    if match["knob"]:
        return Slot("knob", (match["knob"],), None, match[0], line, column, bare)
    root, *path = [part for part in match["path"].split(".") if part] or [""]
    if numbered := _NUMBERED_KEYWORD.fullmatch(root):
        root, path = "keyword", [str(int(numbered[1]) - 1), *path]
    if root in ("keyword", "qOption") or (root == "query" and not path):
        return Slot(cast("Root", root), tuple(path), match["default"], match[0], line, column, bare)
    raise TemplateError(f"{match[0]} is not a placeholder.", line=line, column=column, hint=f"Use {SLOT_EXAMPLES}.")


def _check_no_incomplete_slot(text: str, start: int, end: int) -> None:
    incomplete = INCOMPLETE_SLOT.search(text, start, end)
    if incomplete:
        line, column = location(text, incomplete.start())
        excerpt = text[incomplete.start() : incomplete.start() + 24].splitlines()[0]
        raise TemplateError(
            f"“{excerpt}” begins like a placeholder but is not one.",
            line=line,
            column=column,
            hint=f"Use {SLOT_EXAMPLES}; names contain letters, digits and _. "
            "Write a literal # as %23 in parameters and as \\u0023 in JSON.",
        )


def _descend(value: Any, path: tuple[str, ...]) -> Any:
    for part in path:
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list | tuple) and part.isdecimal() and len(part) < 10 and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def _knob_value(slot: Slot, knobs: Mapping[str, KnobValue]) -> int | float | str:
    name = slot.path[0]
    value = knobs.get(name)
    if isinstance(value, str):
        return value
    if value is None or not math.isfinite(value):
        problem = "has no value" if value is None else f"has the value {value}"
        raise BadQuery(
            f"The knob “{name}” (line {slot.line}, column {slot.column} of the template) {problem}.",
            hint="Set it to a number or a text.",
        )
    return int(value) if value == int(value) else value


def _parse_bare_default(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=str)
    except ValueError:
        return text
