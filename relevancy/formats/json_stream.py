"""JSON objects read from a file, and lists written, piece by piece, so that memory does not grow with the file.

The parser of the standard library takes one element of a list at a time from the text that has been read so far.

See docs/decisions/0060.
"""

from __future__ import annotations

import codecs
import io
import json
import math
import re
import sys
from collections.abc import Iterable, Iterator
from typing import IO, Any, NoReturn, Self

from relevancy.slow_requests import READING_TOO_LONG, is_late

from .errors import BadFile, quote

MAX_VALUES = 1_000_000  # in one element: what is built in memory at once
MAX_CHARACTERS = 32_000_000  # of one element
MAX_MEMBERS = 1_000  # of the object in the file: no format knows more than some dozen
MAX_DEPTH = 100
MAX_DIGITS = 4300  # of a whole number: Python reads no more
READ_BYTES = 64 * 1024
LONGEST_TOKEN = 12  # characters: an escaped surrogate pair; strings may be longer
_TOO_DEEP = f"this JSON is nested too deeply; the maximum are {MAX_DEPTH} levels."
_SPACE = re.compile(r"[ \t\n\r]*")
_NEXT = re.compile(r"[ \t\n\r]*,[ \t\n\r]*(?=\S)")


def read_members(
    file: IO[bytes], *, limit: int, lists: tuple[str, ...], wrappers: tuple[str, ...] = ()
) -> Iterator[tuple[str, Any]]:
    """Yields `(key, value)` for the members of the object in a file, in their order. Begins at the start of the file.

    limit: the most bytes that are read. lists: keys of arrays that are not built as a whole: each of their elements is yielded with
    the key. wrappers: keys of objects whose members are yielded in their place, as in `{"case": {…}}`.
    Raises `BadFile` for what is not a JSON object, with line and column.
    """
    text = _Text(file, limit, "{", "a JSON object: the file must begin with a brace")
    yield from _members(text, lists, wrappers)
    text.check_end()


def read_elements(file: IO[bytes], *, limit: int) -> Iterator[tuple[str, Any]]:
    """Yields `(location, value)` for the elements of the list in a file, such as `[3]`, counted from 1.

    Raises `BadFile` as `read_members` does.
    """
    text = _Text(file, limit, "[", "a JSON list: the file must begin with a bracket")
    for number, value in enumerate(text.elements(""), 1):
        yield f"[{number}]", value
    text.check_end()


def _members(text: _Text, lists: tuple[str, ...], wrappers: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for number, key in enumerate(text.member_names(), 1):
        if number > MAX_MEMBERS:
            raise BadFile(
                f"The object in the file has more than {MAX_MEMBERS:,} members. Check that it is the right file."
            )
        sign = text.sign()
        if sign == "[" and key in lists:
            for value in text.elements(key):
                yield key, value
        elif sign == "{" and key in wrappers:
            yield from _members(text, lists, ())
        else:
            yield key, text.value(key)


class _Text:
    """The text of a file, of which only the part is in memory that is being parsed.

    limit: of bytes. sign, kind: with which it must begin, and what it is then; any value if they are empty.
    """

    def __init__(self, file: IO[bytes], limit: int, sign: str = "", kind: str = "") -> None:
        file.seek(0)
        self._file = file
        self._rest = limit  # bytes that may still be read
        self._limit = limit
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._at = 0  # where the text begins that has not been parsed
        self._line, self._column = 1, 1  # of the first character of the text
        self._is_read = False  # to the end
        self._key, self._number = "", 0  # of the value that is being parsed
        self._decode = json.JSONDecoder(
            parse_float=self._fraction,
            parse_int=self._whole_number,
            parse_constant=lambda text: self._fail(f"this is not valid JSON: {text} is not a number."),
        ).raw_decode
        if sign and self.sign() != sign:
            if self.sign() not in ("[", "{"):
                self.value("")
            raise BadFile(f"This is not {kind}.")

    def sign(self) -> str:
        """Returns the next character that is not a space; an empty string at the end of the file."""
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text) or not self._read():
                return self._text[self._at : self._at + 1]

    def member_names(self) -> Iterator[str]:
        """Yields the keys of the object that begins here. The caller takes the value of each before the next."""
        self._at += 1
        if self.sign() == "}":
            self._at += 1
            return
        while True:
            if self.sign() != '"':
                raise self._error("Expecting property name enclosed in double quotes", self._at)
            key = self.value("")
            self._take(":")
            yield key
            if self._take(",", "}") == "}":
                return

    def elements(self, key: str) -> Iterator[Any]:
        """Yields the elements of the list that begins here. key: names it in errors."""
        self._at += 1
        if self.sign() == "]":
            self._at += 1
            return
        number = 1
        while True:
            yield self.value(key, number)
            number += 1
            if match := _NEXT.match(self._text, self._at):  # nearly always
                self._at = match.end()
            elif self._take(",", "]") == "]":
                return

    def value(self, key: str, number: int = 0) -> Any:
        """Returns the value that begins here. key, number: of a member, and of an element of its list; they name it in errors."""
        self.sign()
        self._key, self._number = key, number
        while True:
            try:
                value, end = self._decode(self._text, self._at)
            except json.JSONDecodeError as error:
                problem, at = error.msg, error.pos
            except RecursionError:
                self._fail(_TOO_DEEP)
            else:
                if end < len(self._text) - 2 or not self._read():  # a number may go on: `1e+` is read as 1
                    return self._checked(value, end)
                continue
            # What is wrong in the middle of the text is wrong; at its end, the rest may not have been read.
            is_cut = problem.startswith("Unterminated string") or at >= len(self._text) - LONGEST_TOKEN
            if not (is_cut and self._read()):
                raise self._error(problem, at)

    def check_end(self) -> None:
        """Raises `BadFile` if anything follows."""
        if self.sign():
            raise self._error("Extra data", self._at)

    def _take(self, *signs: str) -> str:
        sign = self.sign()
        if not sign or sign not in signs:
            raise self._error(f"Expecting '{signs[0]}' delimiter", self._at)
        self._at += 1
        return sign

    def _read(self) -> bool:
        """Reads more, as much again as has not been parsed. Returns whether there was more."""
        if self._is_read:
            return False
        rest = self._text[self._at :]
        self._line, self._column = self._position(self._at)
        if len(rest) > MAX_CHARACTERS:
            self._fail(f"this has more than {MAX_CHARACTERS:,} characters. Split it.")
        self._check_count(rest, 0, len(rest))
        if is_late():
            raise BadFile(READING_TOO_LONG)
        content = self._file.read(max(READ_BYTES, len(rest)))
        self._rest -= len(content)
        if self._rest < 0:
            raise BadFile(f"The file is too large: the maximum is {self._limit:,} bytes.")
        try:
            self._text = rest + self._decoder.decode(content, final=not content)
        except UnicodeDecodeError as error:
            raise BadFile.not_utf8(error, self._line - 1 + rest.count("\n")) from None
        self._at = 0
        self._is_read = not content
        return True

    def _checked(self, value: Any, end: int) -> Any:
        """Goes on behind a value, and returns it. Raises `BadFile` if it is larger than a value may be."""
        text, begin = self._text, self._at
        self._check_count(text, begin, end)
        if text.count("[", begin, end) + text.count("{", begin, end) > MAX_DEPTH and _depth(value) > MAX_DEPTH:
            self._fail(_TOO_DEEP)
        if text.find("\\u0000", begin, end) >= 0 and _has_null(value):
            self._fail("this contains the character U+0000, which cannot be stored. Remove it.")
        if text.find("\\ud", begin, end) >= 0 or text.find("\\uD", begin, end) >= 0:
            # Half of a character, such as an emoji that was cut off, can neither be stored nor written.
            value = json.loads(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
        self._at = end
        return value

    def _check_count(self, text: str, begin: int, end: int) -> None:
        """Raises `BadFile` if a part of a value has too many others, as far as the signs tell that stand before each."""
        if end - begin > MAX_VALUES and sum(text.count(sign, begin, end) for sign in ",[{") > MAX_VALUES:
            self._fail(f"this has more than {MAX_VALUES:,} values. Split it.")

    def _fail(self, problem: str) -> NoReturn:
        """Raises `BadFile` about the value that is being parsed."""
        location = f"{self._key}[{self._number}]" if self._number else self._key
        raise BadFile(f"{location}: {problem}".removeprefix(": ")) from None

    def _fraction(self, text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            self._fail(f"the number {quote(text)[1:-1]} is too large.")
        return value

    def _whole_number(self, text: str) -> int:
        if len(text) > MAX_DIGITS:
            self._fail(f"the number {quote(text)[1:-1]} is too large.")
        return int(text)

    def _position(self, at: int) -> tuple[int, int]:
        """Returns line and column of a place in the text, from 1."""
        lines = self._text.count("\n", 0, at)
        column = at - self._text.rindex("\n", 0, at) if lines else self._column + at
        return self._line + lines, column

    def _error(self, problem: str, at: int) -> BadFile:
        line, column = self._position(at)
        return BadFile(f"column {column}: this is not valid JSON: {problem}.", line=line)


def _has_null(value: Any) -> bool:
    """Returns whether a text in the value contains U+0000, which PostgreSQL cannot store."""
    if isinstance(value, dict):
        return any(map(_has_null, value)) or any(map(_has_null, value.values()))
    return any(map(_has_null, value)) if isinstance(value, list) else isinstance(value, str) and "\0" in value


def _depth(value: Any) -> int:
    """Returns how many lists and objects are within each other."""
    depth, level = 0, [value]
    while level := [nested for nested in level if isinstance(nested, list | dict)]:
        depth += 1
        level = [inner for nested in level for inner in (nested.values() if isinstance(nested, dict) else nested)]
    return depth


def write_list(elements: Iterable[str], indent: str = "    ") -> Iterator[str]:
    """Yields the parts of a list with an element on each line. elements: as JSON. indent: of each; that of the list is two less."""
    separator = f"[\n{indent}"
    for element in elements:
        yield separator + element
        separator = f",\n{indent}"
    yield "[]" if separator.startswith("[") else f"\n{indent[2:]}]"


class Fields:
    """One object of a JSON file, whose members are read with their type. `location` names it in errors: `queries[3]`."""

    def __init__(self, value: Any, location: str) -> None:
        if not isinstance(value, dict):
            raise BadFile(f"{location}: this must be an object, not {quote(value)}.")
        self.members: dict[str, Any] = value
        self.location = location

    def text(self, key: str, default: str = "") -> str:
        """Returns a string; numbers as they are written, `default` for null and what is missing."""
        value = self.members.get(key)
        if isinstance(value, str):
            return value
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(key, f"this must be a string, not {quote(value)}")
        if isinstance(value, float) and value.is_integer():
            return str(int(value))
        return str(value)

    def items(self, key: str) -> list[Any]:
        value = self.members.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.error(key, f"this must be a list, not {quote(value)}")
        return value

    def objects(self, key: str) -> Iterator[Self]:
        for number, value in enumerate(self.items(key), 1):
            yield type(self)(value, f"{self.location}.{key}[{number}]".removeprefix("."))

    def mapping(self, key: str) -> dict[str, Any]:
        """Returns an object, which may be written as a string of JSON, as Quepid does; empty for null and what is missing."""
        value = self.members.get(key)
        if isinstance(value, str):
            text = _Text(io.BytesIO(value.encode()), sys.maxsize)
            try:
                parsed = text.value(key) if value.strip() else None
                text.check_end()
            except BadFile as error:
                raise self.error(key, f"{quote(value)} cannot be read: {str(error).removesuffix('.')}") from None
            value = parsed
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.error(key, f"this must be an object, not {quote(value)}")
        return value

    def error(self, key: str, problem: str) -> BadFile:
        """Returns an error about a member."""
        return BadFile(f"{self.location}.{key}: {problem}.".removeprefix("."))
