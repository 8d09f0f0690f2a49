"""Query templates in Quepid's syntax: parsed once, then rendered for each query.

There are two syntaxes. `params` is a query string that may be spread over lines (`split_parameters`); `%xx` and `+` are
decoded, a `%` that encodes nothing stands for itself. `json` is JSON whose values may also be bare slots (`"boost": ##b##`).
An engine that accepts both has the syntax `either`: a template that begins with a brace is JSON.

Text is escaped by position: slots are filled after the template was parsed, so no query text can leave its parameter or its
string. The HTTP client encodes what it sends.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import unquote_plus

from relevancy.engines.errors import BadQuery, TemplateError
from relevancy.engines.types import KnobValue, Syntax

from .parameters import blank_comments, split_parameters
from .slots import Slot, SlotValues, as_text, fill, find_slots, location, slot_values

# While a template is parsed, a mark of the same length stands for each slot: locations stay true, and the content of a slot
# cannot be mistaken for syntax.
_MARK = re.compile("\0(.)\x01*\0", re.DOTALL)
_FIRST_MARK = 0x100
_MAX_DEPTH = 100


@dataclass(frozen=True)
class MixedText:
    """A text with slots in it."""

    parts: tuple[str | Slot, ...]


Text = str | Slot | MixedText


@dataclass(frozen=True)
class Parameter:
    """A parameter of a template. `line` and `column` of its name count from 1."""

    name: Text
    value: Text
    line: int
    column: int


@dataclass(frozen=True)
class Template:
    """A parsed template.

    `slots`: every slot in order, with its line and column.
    `parameters`: every parameter in order; empty for JSON.
    `body`: the parsed JSON, with slots in it; None for parameters.
    """

    text: str
    syntax: Literal["params", "json"]
    slots: tuple[Slot, ...] = field(compare=False, repr=False)
    parameters: tuple[Parameter, ...] = field(default=(), compare=False, repr=False)
    body: Any = field(default=None, compare=False, repr=False)

    @property
    def knobs(self) -> tuple[str, ...]:
        """Names of the knobs, each once, in order of appearance."""
        return tuple(dict.fromkeys(slot.path[0] for slot in self.slots if slot.root == "knob"))

    def literals(self) -> Iterator[str]:
        """Yields every literal text of the template, decoded: what is written between the slots."""
        texts = [text for parameter in self.parameters for text in (parameter.name, parameter.value)]
        for text in [*texts, *_texts_of(self.body)]:
            parts = text.parts if isinstance(text, MixedText) else (text,)
            yield from (part for part in parts if isinstance(part, str))

    def render(
        self, *, query: str, options: Mapping[str, Any], knobs: Mapping[str, KnobValue], escape: bool = False
    ) -> Any:
        """Returns the request for one query: decoded (name, value) pairs in order (`params`), or a JSON object (`json`).

        `escape`: escapes Lucene's special characters in the query text and its keywords, nowhere else.
        Raises `BadQuery` for an option without value and default, for a knob without value, and for JSON that is not an object.
        """
        values = slot_values(query, options, knobs, escape=escape)
        if self.syntax == "params":
            return [(_render_text(item.name, values), _render_text(item.value, values)) for item in self.parameters]
        rendered = _render_json(self.body, values)
        if not isinstance(rendered, dict):
            raise BadQuery("The rendered query template is not a JSON object.", hint='Write {"query": …}.')
        return rendered


def syntax_of(text: str) -> Literal["params", "json"]:
    """Returns the syntax that a template is written in."""
    return "json" if text.lstrip().startswith("{") else "params"


def parse_template(text: str, syntax: Syntax) -> Template:
    """Parses a template. Raises `TemplateError` with line and column.

    With the syntax `params`, too, a template that begins with a brace is JSON: no parameter name does, and Solr accepts
    JSON requests.
    """
    nul = re.search(r"\0|\\u0000", text)
    if nul:
        line, column = location(text, nul.start())
        raise TemplateError("a template cannot contain the character NUL.", line=line, column=column, hint="Remove it.")
    if syntax == "json" or syntax_of(text) == "json":
        return _parse_json(text)
    return _parse_parameters(text)


def _parse_parameters(text: str) -> Template:
    code = blank_comments(text)
    matches = find_slots(code, json_strings=False)
    slots = tuple(slot for _, slot in matches)
    parameters = []
    for raw in split_parameters(_insert_marks(code, matches)):
        name, _, value = raw.text.partition("=")
        parameters.append(
            Parameter(
                _replace_marks(name, slots, decode=True),
                _replace_marks(value, slots, decode=True),
                raw.line,
                raw.column,
            )
        )
    return Template(text, "params", slots, parameters=tuple(parameters))


def _parse_json(text: str) -> Template:
    if not text.strip():
        raise TemplateError("the template is empty.", hint='Write a JSON object such as {"query": "#$query##"}.')
    matches = find_slots(text, json_strings=True)
    slots = tuple(slot for _, slot in matches)
    try:
        # Not strict: people write strings that span several lines.
        body = json.loads(_insert_marks(text, matches), strict=False, parse_constant=_finite, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise TemplateError(
            f"this is not valid JSON: {error.msg[0].lower()}{error.msg[1:]}.", line=error.lineno, column=error.colno
        ) from None
    except (ValueError, RecursionError) as error:
        raise TemplateError(f"this JSON cannot be parsed: {error}.") from None
    if not isinstance(body, dict | list) and not (isinstance(body, str) and _MARK.fullmatch(body)):
        raise TemplateError(
            "the template must be a JSON object.", hint='Write it in braces, such as {"query": "#$query##"}.'
        )
    return Template(text, "json", slots, body=_compile(body, slots))


def _finite(text: str) -> float:
    """Returns a number. Raises `ValueError` for NaN and Infinity, which JSON does not have, and for too large ones such as 1e999."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a JSON number")
    return number


def _insert_marks(text: str, matches: list[tuple[re.Match[str], Slot]]) -> str:
    parts = []
    end = 0
    for number, (match, slot) in enumerate(matches):
        length = len(match[0]) - (2 if slot.bare else 0)
        mark = "\0" + chr(_FIRST_MARK + number) + "\x01" * (length - 3) + "\0"
        parts += [text[end : match.start()], f'"{mark}"' if slot.bare else mark]
        end = match.end()
    return "".join([*parts, text[end:]])


def _replace_marks(text: str, slots: tuple[Slot, ...], *, decode: bool = False) -> Text:
    parts: list[str | Slot] = []
    for index, part in enumerate(_MARK.split(text)):
        if index % 2:
            parts.append(slots[ord(part) - _FIRST_MARK])
        elif part:
            parts.append(unquote_plus(part) if decode else part)
    if not parts:
        return ""
    return parts[0] if len(parts) == 1 else MixedText(tuple(parts))


def _compile(node: Any, slots: tuple[Slot, ...], depth: int = 0) -> Any:
    if depth > _MAX_DEPTH:
        raise TemplateError(f"the template is nested more than {_MAX_DEPTH} levels deep.", hint="Simplify it.")
    if isinstance(node, str):
        return _replace_marks(node, slots)
    if isinstance(node, list):
        return [_compile(item, slots, depth + 1) for item in node]
    if isinstance(node, dict):
        return {_replace_marks(key, slots): _compile(value, slots, depth + 1) for key, value in node.items()}
    return node


def _texts_of(node: Any) -> Iterator[Text]:
    if isinstance(node, str | Slot | MixedText):
        yield node
    elif isinstance(node, dict):
        for name, value in node.items():
            yield name
            yield from _texts_of(value)
    elif isinstance(node, list):
        for item in node:
            yield from _texts_of(item)


def _render_text(text: Text, values: SlotValues) -> str:
    if isinstance(text, str):
        return text
    if isinstance(text, Slot):
        return as_text(fill(text, values))
    return "".join(part if isinstance(part, str) else as_text(fill(part, values)) for part in text.parts)


def _render_json(node: Any, values: SlotValues) -> Any:
    if isinstance(node, Slot):
        return deepcopy(fill(node, values))
    if isinstance(node, MixedText):
        return _render_text(node, values)
    if isinstance(node, dict):
        return {_render_text(key, values): _render_json(value, values) for key, value in node.items()}
    if isinstance(node, list):
        return [_render_json(item, values) for item in node]
    return node
