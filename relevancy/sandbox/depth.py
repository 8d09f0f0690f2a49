"""Finds how many results a script looks at, if it declares that: `const k = 10;` at its top level."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_STRINGS = {
    '"': re.compile(r'"(?:\\.|[^"\\\n])*+"', re.DOTALL),
    "'": re.compile(r"'(?:\\.|[^'\\\n])*+'", re.DOTALL),
    "`": re.compile(r"`(?:\\.|[^`\\])*+`", re.DOTALL),
}
_LINE_COMMENT = re.compile(r"//[^\n\r\u2028\u2029]*+")
_BLOCK_COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*+\*/")
_FLAGS = re.compile(r"\w*+")
_TOKEN = re.compile(
    r"""(?P<skip>[ \t\f\v\u00a0\ufeff]++)
    |(?P<newline>[\n\r\u2028\u2029]++)
    |(?P<number>\d[\w.]*+|\.\d\w*+)
    |(?P<name>[^\W\d][\w$]*+|\$[\w$]*+)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_KEYWORDS_BEFORE_REGEX = {"return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do"}
_DECLARATIONS = {"const", "let", "var"}
_OPENING, _CLOSING = {"(", "[", "{"}, {")", "]", "}"}
_WHOLE_NUMBER = re.compile(r"[1-9]\d{0,8}")


class Token(NamedTuple):
    """`kind`: skip, newline, string (also a regular expression), number, name, or other; `starts_line`: whether it is the first
    token of a line."""

    kind: str
    text: str
    starts_line: bool


def find_declared_depth(script: str) -> int | None:
    """Returns the whole number that the top level of the script assigns to `k` (const, let or var); None if there is none.

    Only a number literal counts, not an expression such as `k = max / 2`. Comments, strings, and whatever is inside
    brackets or functions are ignored. The time is proportional to the length of the script.
    """
    tokens = list(Scanner(script).top_level_tokens())
    for index, token in enumerate(tokens):
        if token.kind == "name" and token.text in _DECLARATIONS:
            depth = _find_in_declaration(tokens, index + 1)
            if depth is not None:
                return depth
    return None


def _find_in_declaration(tokens: list[Token], start: int) -> int | None:
    """Returns the value of `k` in the declaration whose names begin at `start`: `a = 1, k = 10;`."""
    expects_name = True
    for index in range(start, len(tokens)):
        token = tokens[index]
        if token.text == ";" or token.text in _DECLARATIONS:
            return None
        is_k = (token.kind, token.text) == ("name", "k")
        if expects_name and is_k and len(tokens) > index + 2 and tokens[index + 1].text == "=":
            return _parse_literal(tokens[index + 2], tokens[index + 3] if len(tokens) > index + 3 else None)
        expects_name = token.text == ","
    return None


def _parse_literal(token: Token, following: Token | None) -> int | None:
    """Returns the number, unless the following token continues the expression."""
    if token.kind != "number" or not _WHOLE_NUMBER.fullmatch(token.text):
        return None
    is_complete = (
        following is None
        or following.text in {";", ","}
        or (following.starts_line and following.kind in {"name", "string", "number"})
    )
    return int(token.text) if is_complete else None


class Scanner:
    """Splits a script into tokens in one pass.

    steps: the number of characters looked at, at most three for each character of the script. What is not closed ends the
        pass, because such a script is not valid, and the end of a regular expression is looked up in a table: no pattern is
        tried again and again on the rest of the script.
    """

    def __init__(self, script: str) -> None:
        self.script = script
        self.steps = 0
        self._position = 0
        self._line_start = self._line_end = 0
        self._regex_ends: list[int] = []

    def top_level_tokens(self) -> Iterator[Token]:
        """Returns the tokens outside all brackets, and the opening brackets."""
        depth, previous, starts_line = 0, ("", ""), True
        while self._position < len(self.script):
            token = self._next(previous)
            if token is None:
                return
            kind, text = token
            if kind in {"skip", "newline"}:
                starts_line = starts_line or kind == "newline"
                continue
            depth -= text in _CLOSING
            if depth == 0 and text not in _CLOSING:
                yield Token(kind, text, starts_line)
            depth += text in _OPENING
            previous, starts_line = token, False

    def _next(self, previous: tuple[str, str]) -> tuple[str, str] | None:
        """Returns kind and text of the next token; None if it is not closed. `previous`: the last token that is not skipped."""
        first_two = self.script[self._position : self._position + 2]
        if first_two == "//":
            return self._take("skip", _LINE_COMMENT)
        if first_two == "/*":
            return self._take("skip", _BLOCK_COMMENT)
        if first_two[0] in _STRINGS:
            return self._take("string", _STRINGS[first_two[0]])
        if first_two[0] == "/" and _can_be_regex(previous) and (end := self._end_of_regex()):
            start, self._position = self._position, end
            self._take("string", _FLAGS)
            return "string", self.script[start : self._position]
        return self._take("", _TOKEN)

    def _take(self, kind: str, pattern: re.Pattern[str]) -> tuple[str, str] | None:
        """Moves behind the token that the pattern matches; its kind is the matching group unless it is given."""
        match = pattern.match(self.script, self._position)
        self.steps += (match.end() if match else len(self.script)) - self._position
        if match is None:
            return None
        self._position = match.end()
        return kind or str(match.lastgroup), match[0]

    def _end_of_regex(self) -> int:
        """Returns where the regular expression that starts here ends, without its flags; 0 if its line does not end it."""
        if self._position >= self._line_end:
            self._read_line()
        return self._regex_ends[self._position + 1 - self._line_start]

    def _read_line(self) -> None:
        """Fills `_regex_ends`: for each character of this line, where a regular expression ends that continues there; 0 if
        nowhere."""
        self._line_start = self._position
        newline = self.script.find("\n", self._position)
        self._line_end = len(self.script) if newline < 0 else newline
        length = self._line_end - self._line_start
        self.steps += length
        ends, ends_in_class = [0] * (length + 2), [0] * (length + 2)
        for index in range(length - 1, -1, -1):
            character = self.script[self._line_start + index]
            after = index + (2 if character == "\\" else 1)
            ends[index], ends_in_class[index] = ends[after], ends_in_class[after]
            if character == "/":
                ends[index] = self._line_start + index + 1
            elif character == "[":
                ends[index] = ends_in_class[after]
            elif character == "]":
                ends_in_class[index] = ends[after]
        self._regex_ends = ends


def _can_be_regex(previous: tuple[str, str]) -> bool:
    """Returns whether a slash after this token can start a regular expression, rather than divide."""
    kind, text = previous
    if kind in {"number", "string"}:
        return False
    return text in _KEYWORDS_BEFORE_REGEX if kind == "name" else text not in {")", "]", "}"}
