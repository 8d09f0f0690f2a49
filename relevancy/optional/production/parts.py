"""What the page, the command and the API show of a deployable text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ESCAPED = "with a backslash before each of Lucene’s special characters and before the words and, or, not"


@dataclass(frozen=True)
class InputText:
    """What the application sends. name: of the parameter. text: what it is, in words. default: as text; None if it has to be sent."""

    name: str
    text: str
    default: str | None = None


@dataclass(frozen=True)
class Part:
    """A text to copy. key: stable name. title, hint: for people."""

    key: str
    title: str
    text: str
    hint: str = ""


@dataclass(frozen=True)
class Deployment:
    """A deployable text.

    name: under which the engine stores it. text: in the form that people compare. file: what the engine's API takes, with its
    filename. parts: to copy, in order. inputs: what the application sends with each search. notes: what cannot be expressed, and what
    to check, in sentences. is_stored: whether the engine stores it; otherwise the application sends the whole text.
    search: returns the command that searches for a text with the options of a query; None if nothing is stored.
    """

    name: str
    text: str
    file: str
    filename: str
    parts: Sequence[Part]
    inputs: Sequence[InputText]
    notes: Sequence[str]
    is_stored: bool = True
    search: Callable[[str, Mapping[str, Any]], str] | None = None


def as_json(data: object) -> str:
    """Returns indented JSON with Unicode characters as they are."""
    return json.dumps(data, ensure_ascii=False, indent=2)


def curl(url: str, body: str, *, method: str = "POST") -> str:
    """Returns a command for a shell that sends JSON. url: with variables of the shell in it."""
    return f"curl -X {method} \"{url}\" -H 'Content-Type: application/json' --data-binary @- <<'JSON'\n{body}\nJSON"


def describe_keyword(path: Sequence[str], *, is_escaped: bool) -> str:
    """Returns what a placeholder for keywords of the query stands for."""
    escaped = f", {ESCAPED}" if is_escaped else ""
    if not path:
        return f"the words of the query{escaped}: it is split at blanks and commas"
    return f"word {int(path[0]) + 1} of the query{escaped}; empty if there are fewer"


def describe_query(*, is_escaped: bool) -> str:
    """Returns what the placeholder for the query stands for."""
    return f"the text of the query, {ESCAPED}" if is_escaped else "the text of the query, as it is"


def merge_names(wanted: Sequence[str], taken: Mapping[str, Any] | Sequence[str]) -> list[str]:
    """Returns a name for each wanted one: with a number if it is taken."""
    names: list[str] = []
    for name in wanted:
        number, unique = 2, name
        while unique in names or unique in taken:
            unique, number = f"{name}_{number}", number + 1
        names.append(unique)
    return names
