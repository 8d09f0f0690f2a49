"""How deep a script looks, as far as it says so: `const k = 10;` at its top level."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
_VALUE_BEFORE_REGEX = {"return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do"}
_DECLARES = {"const", "let", "var"}
_OPEN, _CLOSED, _QUOTES = {"(", "[", "{"}, {")", "]", "}"}, {"'", '"', "`"}
_WHOLE = re.compile(r"[1-9]\d{0,8}")


def declared_depth(script: str) -> int | None:
    """The whole number that the script's own top level gives `k` (const, let or var), else None.

    Only a number stands for a depth: `k = shown / 2` is none. Comments, strings and what lies in brackets or functions
    do not count.
    """
    tokens = list(_top_level(script))
    for at, (kind, text, _) in enumerate(tokens):
        if kind == "name" and text in _DECLARES:
            found = _declared(tokens[at + 1 :])
            if found is not None:
                return found
    return None


def _declared(tokens: list[tuple[str, str, bool]]) -> int | None:
    """`k` among the declarations that the tokens begin with: `a = 1, k = 10;`."""
    expected = True
    for at, (kind, text, _) in enumerate(tokens):
        if text == ";" or text in _DECLARES:
            return None
        if expected and (kind, text) == ("name", "k") and len(tokens) > at + 2 and tokens[at + 1][1] == "=":
            return _literal(tokens[at + 2], tokens[at + 3] if len(tokens) > at + 3 else None)
        expected = text == ","
    return None


def _literal(token: tuple[str, str, bool], after: tuple[str, str, bool] | None) -> int | None:
    """The number, where nothing follows that would go on with the expression."""
    if token[0] != "number" or not _WHOLE.fullmatch(token[1]):
        return None
    ends = after is None or after[1] in {";", ","} or (after[2] and after[0] in {"name", "string", "number"})
    return int(token[1]) if ends else None


def _top_level(script: str) -> Iterator[tuple[str, str, bool]]:
    """(kind, text, whether a line begins with it) of what stands outside all brackets, and opening brackets."""
    position, depth, before, begins = 0, 0, ("", ""), True
    while position < len(script):
        found = _REGEX.match(script, position) if _may_be_regex(script, position, before) else None
        match = found or _TOKEN.match(script, position)
        if not match:
            return
        kind, text = ("string" if found else str(match.lastgroup)), match[0]
        position += len(text)
        if kind == "other" and text in _QUOTES:
            return  # never closed: no script
        if kind in {"skip", "newline"}:
            begins = begins or kind == "newline"
            continue
        depth -= text in _CLOSED
        if depth == 0 and text not in _CLOSED:
            yield kind, text, begins
        depth += text in _OPEN
        before, begins = (kind, text), False


def _may_be_regex(script: str, position: int, before: tuple[str, str]) -> bool:
    """Whether a slash here begins a regular expression rather than divides."""
    if script[position] != "/" or script[position : position + 2] in {"//", "/*"}:
        return False
    kind, text = before
    if kind in {"number", "string"}:
        return False
    return text in _VALUE_BEFORE_REGEX if kind == "name" else text not in {")", "]", "}"}
