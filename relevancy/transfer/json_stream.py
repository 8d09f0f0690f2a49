"""JSON objects read from a file piece by piece, so that memory does not grow with the file."""

import json
import math
from collections.abc import Iterator
from itertools import chain
from typing import IO, Any

import ijson
from django.core.exceptions import ValidationError
from ijson.common import ObjectBuilder

from relevancy.models.errors import error_text
from relevancy.models.text import validate_line

from .errors import BadFile, quote

MAX_VALUES = 1_000_000  # in one element: what is built in memory at once
MAX_DEPTH = 100
READ_BYTES = 64 * 1024
LOCATED_BYTES = 1_000_000  # of a file whose error is located by line and column
_BOM = b"\xef\xbb\xbf"
_OPENING, _CLOSING = {"start_map", "start_array"}, {"end_map", "end_array"}


class JsonFile:
    """A binary file with one JSON object. May be read again from its start; `limit`: the most bytes that are read."""

    def __init__(self, file: IO[bytes], *, limit: int) -> None:
        self._file = file
        self._limit = limit
        self._size = 0
        self._is_begun = False

    def read(self, size: int = READ_BYTES) -> bytes:
        """Returns the next bytes, without a byte order mark at the start. Raises `BadFile` after `limit` bytes."""
        if size == 0:
            return b""
        content = self._file.read(size)
        self._size += len(content)
        if self._size > self._limit:
            raise BadFile(f"The file is too large: the maximum is {self._limit:,} bytes.")
        if not self._is_begun:
            self._is_begun = True
            if content.startswith(_BOM):
                return content[len(_BOM) :] or self.read(size)
        return content

    def rewind(self) -> None:
        """Starts again at the beginning of the file."""
        self._file.seek(0)
        self._size, self._is_begun = 0, False


def read_members(
    file: JsonFile, *, lists: tuple[str, ...], wrappers: tuple[str, ...] = ()
) -> Iterator[tuple[str, Any]]:
    """Yields `(key, value)` for the members of the object in a file, in their order.

    lists: keys of arrays that are not built as a whole: each of their elements is yielded with the key.
    wrappers: keys of objects whose members are yielded in their place, as in `{"case": {…}}`.
    Raises `BadFile` for what is not a JSON object, with line and column in files of at most a million bytes.
    """
    file.rewind()
    try:
        events = ijson.basic_parse(file, use_float=True, buf_size=READ_BYTES)
        first = next(events, None)
        if first is None or first[0] != "start_map":
            raise BadFile("This is not a JSON object: the file must begin with a brace.")
        yield from _members(events, lists, wrappers)
        for _ in events:  # anything behind the object is an error
            pass
    except (ijson.JSONError, UnicodeDecodeError, UnicodeEncodeError) as error:
        raise _located(file, error) from None


def read_elements(file: JsonFile) -> Iterator[tuple[str, Any]]:
    """Yields `(location, value)` for the elements of the list in a file, such as `[3]`, counted from 1.

    Raises `BadFile` as `read_members` does.
    """
    file.rewind()
    try:
        events = ijson.basic_parse(file, use_float=True, buf_size=READ_BYTES)
        first = next(events, None)
        if first is None or first[0] != "start_array":
            raise BadFile("This is not a JSON list: the file must begin with a bracket.")
        for number, element in enumerate(events, 1):
            if element[0] == "end_array":
                break
            yield f"[{number}]", _build(events, element, f"[{number}]")
        for _ in events:  # anything behind the list is an error
            pass
    except (ijson.JSONError, UnicodeDecodeError, UnicodeEncodeError) as error:
        raise _located(file, error) from None


def _members(
    events: Iterator[tuple[str, Any]], lists: tuple[str, ...], wrappers: tuple[str, ...]
) -> Iterator[tuple[str, Any]]:
    for event, key in events:
        if event == "end_map":
            return
        first = next(events)
        if first[0] == "start_array" and key in lists:
            for number, element in enumerate(events, 1):
                if element[0] == "end_array":
                    break
                yield key, _build(events, element, f"{key}[{number}]")
        elif first[0] == "start_map" and key in wrappers:
            yield from _members(events, lists, ())
        else:
            yield key, _build(events, first, key)


def _build(events: Iterator[tuple[str, Any]], first: tuple[str, Any], location: str) -> Any:
    """Returns the value that begins with the event `first`, and takes its other events."""
    event, value = first
    if event not in _OPENING:
        return value
    builder: Any = ObjectBuilder()
    depth = 0
    for count, (event, value) in enumerate(chain([first], events)):
        builder.event(event, value)
        depth += (event in _OPENING) - (event in _CLOSING)
        if depth == 0:
            break
        if depth > MAX_DEPTH:
            raise BadFile(f"{location}: this JSON is nested too deeply; the maximum are {MAX_DEPTH} levels.")
        if count > MAX_VALUES:
            raise BadFile(f"{location}: this has more than {MAX_VALUES:,} values. Split it.")
    return builder.value


def _located(file: JsonFile, error: Exception) -> BadFile:
    """Returns the error with line and column, which the streaming parser does not know."""
    message = " ".join(str(error).partition("\n")[0].removeprefix("b'").split())
    file.rewind()
    content = file.read(LOCATED_BYTES)
    if len(content) < LOCATED_BYTES:
        try:
            json.loads(content.decode())
        except json.JSONDecodeError as found:
            return BadFile(f"column {found.colno}: this is not valid JSON: {found.msg}.", line=found.lineno)
        except UnicodeDecodeError as found:
            line = content[: found.start].count(b"\n") + 1
            return BadFile(
                f"the byte 0x{content[found.start]:02x} is not valid UTF-8. Save the file as UTF-8.", line=line
            )
        except (ValueError, RecursionError):
            pass
    if "UTF8" in message or isinstance(error, UnicodeError):
        return BadFile("The file is not valid UTF-8. Save it as UTF-8.")
    return BadFile(f"This is not valid JSON: {message}.")


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
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise self.error(key, f"this must be a string, not {quote(value)}")
        if isinstance(value, float) and value.is_integer():
            return str(int(value))
        return str(value)

    def line(self, key: str) -> str:
        """Returns text on one line, without white space around it, that a database can look for; empty for null and what is missing."""
        text = self.text(key).strip()
        try:
            validate_line(text)
        except ValidationError as error:
            raise self.error(key, f"{quote(text)}: {error_text(error)}") from None
        return text

    def number(self, key: str) -> float | None:
        """Returns a finite number, which may be written as a string; None for null, an empty string and what is missing."""
        value = self.members.get(key)
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise self.error(key, f"{quote(value)} is not a number")
        return number

    def whole_number(self, key: str, default: int) -> int:
        number = self.number(key)
        if number is None:
            return default
        if not number.is_integer():
            raise self.error(key, f"{number:g} is not a whole number")
        return int(number)

    def flag(self, key: str, *, default: bool = False) -> bool:
        value = self.members.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.error(key, f"this must be true or false, not {quote(value)}")
        return value

    def items(self, key: str) -> list[Any]:
        value = self.members.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.error(key, f"this must be a list, not {quote(value)}")
        return value

    def objects(self, key: str) -> Iterator["Fields"]:
        for number, value in enumerate(self.items(key), 1):
            yield Fields(value, f"{self.location}.{key}[{number}]".removeprefix("."))

    def mapping(self, key: str) -> dict[str, Any]:
        """Returns an object, which may be written as a string of JSON, as Quepid does; empty for null and what is missing."""
        value = self.members.get(key)
        if isinstance(value, str):
            try:
                value = json.loads(value) if value.strip() else None
            except (ValueError, RecursionError):
                raise self.error(key, f"this is not valid JSON: {quote(value)}") from None
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.error(key, f"this must be an object, not {quote(value)}")
        return value

    def error(self, key: str, problem: str) -> BadFile:
        """Returns an error about a member."""
        return BadFile(f"{self.location}.{key}: {problem}.".removeprefix("."))
