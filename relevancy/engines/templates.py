"""Query templates in Quepid's syntax: parsed once, then rendered for each query.

Two syntaxes. `params`: a query string, which may be spread over lines (each line is trimmed and the lines joined without
anything between them; lines starting with `# ` are comments); `%xx` and `+` mean what they mean in a query string, a `%`
that encodes nothing is itself. `json`: JSON, whose values may also be bare slots (`"boost": ##b##`).

Escaping belongs to the place: slots are filled after the text was taken apart, so no query text can leave its parameter or
its string. The HTTP client encodes what it sends.

An engine that takes both says `either`: the text then decides, JSON begins with a brace.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import unquote_plus

from .errors import TemplateError
from .template_slots import Slot, Values, as_text, fill, find_slots, place, values_for

Syntax = Literal["params", "json", "either"]

_COMMENT = re.compile(r"[ \t]*#(?:[ \t].*)?")
_MARK = re.compile("\0(.)\x01*\0", re.DOTALL)
_FIRST_MARK = 0x100
_DEEPEST = 100


@dataclass(frozen=True)
class _Mixed:
    """A text with slots in it."""

    parts: tuple[str | Slot, ...]


@dataclass(frozen=True)
class Template:
    """A parsed template. `slots`: every slot in order, with its line and column, as an editor marks them."""

    text: str
    syntax: Syntax
    slots: tuple[Slot, ...] = field(compare=False, repr=False)
    _body: Any = field(compare=False, repr=False)

    @property
    def knobs(self) -> tuple[str, ...]:
        """Names of the knobs, each once, in order of appearance."""
        return tuple(dict.fromkeys(slot.path[0] for slot in self.slots if slot.root == "knob"))

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The placeholders that are no knobs as they are written (`#$query##`), each once, in order of appearance."""
        return tuple(dict.fromkeys(slot.text for slot in self.slots if slot.root != "knob"))

    def check_knobs(self, names: Iterable[str]) -> None:
        """Raise `TemplateError`, with its place, for the first knob that is not among `names`."""
        known = sorted(set(names))
        for slot in self.slots:
            if slot.root == "knob" and slot.path[0] not in known:
                there = f"There are: {', '.join(known)}." if known else "There are no knobs yet."
                raise TemplateError(f"no knob is called “{slot.path[0]}”. {there}", line=slot.line, column=slot.column)

    def render(
        self, *, query: str, options: Mapping[str, Any], knobs: Mapping[str, float], escape: bool = False
    ) -> Any:
        """The request for one query: decoded `(name, value)` pairs in order (`params`), or a new JSON value (`json`).

        `escape` escapes Lucene's special characters in the query text and its keywords, nowhere else.
        Raises `BadQuery` for an option without value and default, and for a knob without value.
        """
        values = values_for(query, options, knobs, escape=escape)
        if self.syntax == "params":
            return [(_render_text(name, values), _render_text(value, values)) for name, value in self._body]
        return _render_json(self._body, values)


def syntax_of(text: str) -> Literal["params", "json"]:
    """Which of both a template is written in."""
    return "json" if text.lstrip().startswith("{") else "params"


def parse_template(text: str, syntax: Syntax) -> Template:
    """Parse a template. Raises `TemplateError` with line and column of the user's text. The template's own syntax is never `either`."""
    if syntax != "json":
        syntax = syntax_of(text)  # no parameter's name begins with a brace, and Solr takes JSON too
    nul = re.search(r"\0|\\u0000", text)
    if nul:
        line, column = place(text, nul.start())
        raise TemplateError("the character NUL cannot be part of a template.", line=line, column=column)
    if syntax == "params":
        slots, body = _parse_params(text)
    else:
        slots, body = _parse_json(text)
    return Template(text, syntax, slots, body)


def _parse_params(text: str) -> tuple[tuple[Slot, ...], list[tuple[Any, Any]]]:
    # Comments become blanks of the same length, so that places stay true.
    code = "\n".join(" " * len(line) if _COMMENT.fullmatch(line) else line for line in _lines(text))
    found = find_slots(code, json_strings=False)
    marked = _mark(code, found)
    joined = "".join(line.strip() for line in marked.split("\n")).removeprefix("?")
    slots = tuple(slot for _, slot in found)
    pairs = []
    for part in joined.split("&"):
        if part:
            name, _, value = part.partition("=")
            pairs.append((_unmark(name, slots, decode=True), _unmark(value, slots, decode=True)))
    return slots, pairs


def _lines(text: str) -> list[str]:
    """Lines without their ends; a lone CR ends none, as in `place`."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def _parse_json(text: str) -> tuple[tuple[Slot, ...], Any]:
    if not text.strip():
        raise TemplateError("the template is empty.", todo='Write a JSON object such as {"query": "#$query##"}.')
    found = find_slots(text, json_strings=True)
    slots = tuple(slot for _, slot in found)
    try:
        # Not strict: a string may run over several lines, as people write them.
        body = json.loads(_mark(text, found), strict=False, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise TemplateError(
            f"this is not JSON: {error.msg[0].lower()}{error.msg[1:]}.", line=error.lineno, column=error.colno
        ) from None
    except (ValueError, RecursionError) as error:
        raise TemplateError(f"this JSON cannot be read: {error}.") from None
    if not isinstance(body, dict | list) and not (isinstance(body, str) and _MARK.fullmatch(body)):
        raise TemplateError(
            "the template must be a JSON object.", todo='Write it in braces, such as {"query": "#$query##"}.'
        )
    return slots, _compile(body, slots)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _mark(text: str, found: list[tuple[re.Match[str], Slot]]) -> str:
    """Put a mark of the same length in the place of each slot: places stay true, and what stands in it cannot be misread."""
    pieces = []
    end = 0
    for number, (match, slot) in enumerate(found):
        length = len(match[0]) - (2 if slot.bare else 0)
        mark = "\0" + chr(_FIRST_MARK + number) + "\x01" * (length - 3) + "\0"
        pieces += [text[end : match.start()], f'"{mark}"' if slot.bare else mark]
        end = match.end()
    return "".join([*pieces, text[end:]])


def _unmark(text: str, slots: tuple[Slot, ...], *, decode: bool = False) -> str | Slot | _Mixed:
    """Back from marks to slots: a plain text, exactly one slot, or a mixture."""
    parts: list[str | Slot] = []
    for index, piece in enumerate(_MARK.split(text)):
        if index % 2:
            parts.append(slots[ord(piece) - _FIRST_MARK])
        elif piece:
            parts.append(unquote_plus(piece) if decode else piece)
    if not parts:
        return ""
    return parts[0] if len(parts) == 1 else _Mixed(tuple(parts))


def _compile(node: Any, slots: tuple[Slot, ...], depth: int = 0) -> Any:
    if depth > _DEEPEST:
        raise TemplateError(f"the template is nested more than {_DEEPEST} levels deep.")
    if isinstance(node, str):
        return _unmark(node, slots)
    if isinstance(node, list):
        return [_compile(item, slots, depth + 1) for item in node]
    if isinstance(node, dict):
        return {_unmark(key, slots): _compile(value, slots, depth + 1) for key, value in node.items()}
    return node


def _render_text(part: Any, values: Values) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Slot):
        return as_text(fill(part, values))
    return "".join(piece if isinstance(piece, str) else as_text(fill(piece, values)) for piece in part.parts)


def _render_json(node: Any, values: Values) -> Any:
    if isinstance(node, Slot):
        return deepcopy(fill(node, values))
    if isinstance(node, _Mixed):
        return _render_text(node, values)
    if isinstance(node, dict):
        return {_render_text(key, values): _render_json(value, values) for key, value in node.items()}
    if isinstance(node, list):
        return [_render_json(item, values) for item in node]
    return node
