"""The lines of a parameter template: where each parameter begins."""

from __future__ import annotations

import re
from dataclasses import dataclass

_COMMENT = re.compile(r"[ \t]*#(?:[ \t].*)?")
_BEGINS_PARAMETER = re.compile(r"[A-Za-z_][\w.\-]*=")


@dataclass
class RawParameter:
    """A parameter as written, without its separators. `line` and `column` count from 1."""

    text: str
    line: int
    column: int


def blank_comments(text: str) -> str:
    """Replaces comment lines (`# …`) by blanks of the same length, so that lines and columns stay the same."""
    # Unlike `str.splitlines`, a lone CR does not end a line.
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return "\n".join(" " * len(line) if _COMMENT.fullmatch(line) else line for line in lines)


def split_parameters(text: str) -> list[RawParameter]:
    """Splits a query string that may be spread over lines.

    `&` separates parameters, and so does the beginning of a line that looks like `name=`. Any other line continues the
    parameter before it: lines are trimmed and joined without anything between them.
    """
    parameters: list[RawParameter] = []
    for number, line in enumerate(text.split("\n"), 1):
        column = len(line) - len(line.lstrip()) + 1
        for index, part in enumerate(line.strip().split("&")):
            if index or not parameters or _BEGINS_PARAMETER.match(part):
                parameters.append(RawParameter(part, number, column))
            else:
                if not parameters[-1].text:
                    parameters[-1] = RawParameter("", number, column)
                parameters[-1].text += part
            column += len(part) + 1
    if parameters and parameters[0].text.startswith("?"):
        parameters[0].text = parameters[0].text[1:]
        parameters[0].column += 1
    return [parameter for parameter in parameters if parameter.text]
