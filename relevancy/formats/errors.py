"""Errors in imported files."""

from typing import NamedTuple

MAX_QUOTED = 200


class LineError(NamedTuple):
    """What is wrong with a line of a file. line: from 1; None if it is not one line."""

    line: int | None
    message: str


class BadFile(Exception):
    """A file cannot be imported; nothing of it was stored. The message names the line (from 1), the column and the value."""

    def __init__(self, message: str, *, line: int | None = None) -> None:
        self.line = line
        super().__init__(f"Line {line}: {message}" if line else message)


def quote(value: object) -> str:
    """Returns a value of a file as an error message quotes it: its `repr`, at most 200 characters."""
    text = repr(value)
    return text if len(text) <= MAX_QUOTED else f"{text[: MAX_QUOTED - 2]}…{text[-1]}"


class UnreadableFile(BadFile):
    """A file that cannot be read any further: too large, or not text in UTF-8."""
