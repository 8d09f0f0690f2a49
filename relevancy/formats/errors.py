"""Errors in imported files."""

from typing import NamedTuple, Self

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

    @classmethod
    def not_utf8(cls, error: UnicodeDecodeError, lines: int) -> Self:
        """Returns the error of text that is not UTF-8. lines: how many were complete before the part that was decoded."""
        return cls(
            f"the byte 0x{error.object[error.start]:02x} is not valid UTF-8. Save the file as UTF-8.",
            line=lines + error.object[: error.start].count(b"\n") + 1,
        )


def quote(value: object) -> str:
    """Returns a value of a file as an error message quotes it: its `repr`, at most 200 characters."""
    text = repr(value)
    return text if len(text) <= MAX_QUOTED else f"{text[: MAX_QUOTED - 2]}…{text[-1]}"


class UnreadableFile(BadFile):
    """A file that cannot be read any further: too large, or not text in UTF-8."""
