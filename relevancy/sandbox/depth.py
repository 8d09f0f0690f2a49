"""Finds how many results a script looks at, if it declares that: `const k = 10;` at its top level."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<skip>//[^\n\r\u2028\u2029]*|/\*.*?\*/|[ \t\f\v\u00a0\ufeff]+)
    |(?P<newline>[\n\r\u2028\u2029]+)
    |(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)
    |(?P<number>(?:\d[\w.]*)|\.\d[\w]*)
    |(?P<name>[^\W\d][\w$]*|\$[\w$]*)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_REGEX = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/\w*")
_KEYWORDS_BEFORE_REGEX = {"return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do"}
_DECLARATIONS = {"const", "let", "var"}
_OPENING, _CLOSING, _QUOTES = {"(", "[", "{"}, {")", "]", "}"}, {"'", '"', "`"}
_WHOLE_NUMBER = re.compile(r"[1-9]\d{0,8}")


class _Token(NamedTuple):
    """`kind`: a group of `_TOKEN`; `starts_line`: whether it is the first token of a line."""

    kind: str
    text: str
    starts_line: bool


def find_declared_depth(script: str) -> int | None:
    """Returns the whole number that the top level of the script assigns to `k` (const, let or var); None if there is none.

    Only a number literal counts, not an expression such as `k = max / 2`. Comments, strings, and whatever is inside
    brackets or functions are ignored.
    """
    tokens = list(_top_level_tokens(script))
    for index, token in enumerate(tokens):
        if token.kind == "name" and token.text in _DECLARATIONS:
            depth = _find_in_declaration(tokens[index + 1 :])
            if depth is not None:
                return depth
    return None


def _find_in_declaration(tokens: list[_Token]) -> int | None:
    """Returns the value of `k` in the declaration with which the tokens start: `a = 1, k = 10;`."""
    expects_name = True
    for index, token in enumerate(tokens):
        if token.text == ";" or token.text in _DECLARATIONS:
            return None
        is_k = (token.kind, token.text) == ("name", "k")
        if expects_name and is_k and len(tokens) > index + 2 and tokens[index + 1].text == "=":
            return _parse_literal(tokens[index + 2], tokens[index + 3] if len(tokens) > index + 3 else None)
        expects_name = token.text == ","
    return None


def _parse_literal(token: _Token, following: _Token | None) -> int | None:
    """Returns the number, unless the following token continues the expression."""
    if token.kind != "number" or not _WHOLE_NUMBER.fullmatch(token.text):
        return None
    is_complete = (
        following is None
        or following.text in {";", ","}
        or (following.starts_line and following.kind in {"name", "string", "number"})
    )
    return int(token.text) if is_complete else None


def _top_level_tokens(script: str) -> Iterator[_Token]:
    """Returns the tokens outside all brackets, and the opening brackets."""
    position, depth, previous, starts_line = 0, 0, ("", ""), True
    while position < len(script):
        regex = _REGEX.match(script, position) if _can_be_regex(script, position, previous) else None
        match = regex or _TOKEN.match(script, position)
        if not match:
            return
        kind, text = ("string" if regex else str(match.lastgroup)), match[0]
        position += len(text)
        if kind == "other" and text in _QUOTES:
            return  # never closed: not a valid script
        if kind in {"skip", "newline"}:
            starts_line = starts_line or kind == "newline"
            continue
        depth -= text in _CLOSING
        if depth == 0 and text not in _CLOSING:
            yield _Token(kind, text, starts_line)
        depth += text in _OPENING
        previous, starts_line = (kind, text), False


def _can_be_regex(script: str, position: int, previous: tuple[str, str]) -> bool:
    """Returns whether the slash at this position can start a regular expression, rather than divide."""
    if script[position] != "/" or script[position : position + 2] in {"//", "/*"}:
        return False
    kind, text = previous
    if kind in {"number", "string"}:
        return False
    return text in _KEYWORDS_BEFORE_REGEX if kind == "name" else text not in {")", "]", "}"}
