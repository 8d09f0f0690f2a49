"""Slots: the places of a template that are filled for each query, `#$query##` and friends, and `##knob##`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from .errors import BadQuery, TemplateError

# A default may hold anything that ends neither the parameter, nor the JSON string, nor the line it stands in.
SLOT = re.compile(r'#\$(?P<path>[A-Za-z0-9_.]+)(?:\|(?P<default>[^#&"\\\r\n]*))?##|##(?P<knob>[A-Za-z0-9_]+)##')
BROKEN = re.compile(r"#\$|##")
ROOTS = "#$query##, #$keyword1## (or #$keyword.0##), #$qOption.name## (or #$qOption.name|default##) and knobs such as ##title_boost##"

_LUCENE_CHARACTERS = re.compile(r'[+\-&|!(){}\[\]^"~*?:\\/]')
_LUCENE_WORDS = re.compile(r"(?<!\S)(and|or|not)(?!\S)", re.IGNORECASE)
_NUMBERED_KEYWORD = re.compile(r"keyword([1-9][0-9]*)")


@dataclass(frozen=True)
class Slot:
    """One placeholder or knob as it stands in a template. `bare`: outside of any JSON string."""

    root: str  # "query", "keyword", "qOption" or "knob"
    path: tuple[str, ...]
    default: str | None
    text: str
    line: int
    column: int
    bare: bool = False


@dataclass(frozen=True)
class Values:
    """What the slots of one query are filled from."""

    query: str
    keywords: tuple[str, ...]
    options: Mapping[str, Any]
    knobs: Mapping[str, float] = field(default_factory=dict)


def values_for(query: str, options: Mapping[str, Any], knobs: Mapping[str, float], *, escape: bool) -> Values:
    """Split the query into keywords on blanks and commas, and escape both for Lucene's syntax where asked."""
    keywords = tuple(word for word in re.split(r"[ ,]+", query) if word)
    if escape:
        return Values(escape_lucene(query), tuple(map(escape_lucene, keywords)), options, knobs)
    return Values(query, keywords, options, knobs)


def escape_lucene(text: str) -> str:
    """Make Lucene's query parsers read `text` as plain words: no operators, ranges, wildcards or regular expressions.

    The words and, or, not are escaped too: edismax takes them for operators in either case.
    """
    return _LUCENE_WORDS.sub(r"\\\1", _LUCENE_CHARACTERS.sub(r"\\\g<0>", text))


def find_slots(text: str, *, json_strings: bool) -> list[tuple[re.Match[str], Slot]]:
    """All slots of a template in order, with their place. Raises `TemplateError` for a malformed or unknown one."""
    found = []
    end = 0
    for match, bare in _scan(text) if json_strings else ((match, False) for match in SLOT.finditer(text)):
        _refuse_broken(text, end, match.start())
        found.append((match, _slot(match, bare)))
        end = match.end()
    _refuse_broken(text, end, len(text))
    return found


def place(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, both counted from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def fill(slot: Slot, values: Values) -> Any:
    """The value of a slot with its JSON type. Raises `BadQuery` where there is none."""
    if slot.root == "query":
        return values.query
    if slot.root == "knob":
        return _knob(slot, values.knobs)
    source: Any = list(values.keywords) if slot.root == "keyword" else values.options
    value = _descend(source, slot.path)
    if value is not None:
        return value
    if slot.default is not None:
        return _bare_default(slot.default) if slot.bare else slot.default
    if slot.root == "keyword":
        return ""
    name = ".".join(slot.path)
    raise BadQuery(
        f"The template asks for {slot.text} (line {slot.line}, column {slot.column}), but the query has no option “{name}”.",
        todo=f"Add it to the options of the query, the case or the endpoint, or give a default: #$qOption.{name}|default##.",
    )


def as_text(value: Any) -> str:
    """How a value reads in the middle of a text: whole numbers without `.0`, lists joined by commas, objects as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return format(Decimal(int(value) if value.is_integer() else repr(value)), "f")
    if isinstance(value, list | tuple) and not any(isinstance(item, list | tuple | Mapping) for item in value):
        return ",".join(map(as_text, value))
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _scan(text: str) -> Iterator[tuple[re.Match[str], bool]]:
    """Slots of a JSON text, each with whether it stands outside of the strings."""
    inside = False
    at = 0
    while at < len(text):
        if match := SLOT.match(text, at):
            yield match, not inside
            at = match.end()
            continue
        if text[at] == '"':
            inside = not inside
        at += 2 if inside and text[at] == "\\" else 1


def _slot(match: re.Match[str], bare: bool) -> Slot:
    line, column = place(match.string, match.start())
    if match["knob"]:
        return Slot("knob", (match["knob"],), None, match[0], line, column, bare)
    root, *path = [part for part in match["path"].split(".") if part] or [""]
    if numbered := _NUMBERED_KEYWORD.fullmatch(root):
        root, path = "keyword", [str(int(numbered[1]) - 1), *path]
    if root not in ("query", "keyword", "qOption") or (root == "query" and path):
        raise TemplateError(f"there is no {match[0]}. There are: {ROOTS}.", line=line, column=column)
    return Slot(root, tuple(path), match["default"], match[0], line, column, bare)


def _refuse_broken(text: str, start: int, end: int) -> None:
    broken = BROKEN.search(text, start, end)
    if broken:
        line, column = place(text, broken.start())
        snippet = text[broken.start() : broken.start() + 24].splitlines()[0]
        raise TemplateError(
            f"“{snippet}” starts like a placeholder but is none. There are: {ROOTS}.",
            line=line,
            column=column,
            todo="Names hold letters, digits and _. A literal # is %23 in parameters and \\u0023 in JSON.",
        )


def _descend(value: Any, path: tuple[str, ...]) -> Any:
    for part in path:
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list | tuple) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def _knob(slot: Slot, knobs: Mapping[str, float]) -> int | float:
    name = slot.path[0]
    value = knobs.get(name)
    if value is None or not math.isfinite(value):
        said = "has no value" if value is None else f"has the value {value}"
        raise BadQuery(
            f"The knob “{name}” (line {slot.line}, column {slot.column} of the template) {said}.",
            todo="Give it a number.",
        )
    return int(value) if value == int(value) else value


def _bare_default(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=str)
    except ValueError:
        return text
