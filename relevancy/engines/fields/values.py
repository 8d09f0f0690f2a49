"""Values of a document's fields."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from relevancy.engines.templates.slots import as_text


def as_number(value: Any) -> float | None:
    """Returns an engine's number as a float; None for anything else, and for what a float cannot hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def value_at(document: Any, name: str) -> Any:
    """Returns a field by its literal name, else along its dots, collecting values through arrays. None if it is missing."""
    if type(document) is dict and name in document:  # the usual case, which this check makes fast
        return document[name]
    if isinstance(document, Mapping):
        if name in document:
            return document[name]
        head, dot, rest = name.partition(".")
        while dot:
            if head in document:
                value = value_at(document[head], rest)
                if value is not None:
                    return value
            step, dot, rest = rest.partition(".")
            head = f"{head}.{step}"
        return None
    if isinstance(document, list | tuple):
        values: list[Any] = []
        for item in document:
            value = value_at(item, name)
            values += value if isinstance(value, list) else [] if value is None else [value]
        return values or None
    return None


def objects_at(document: Any, name: str) -> list[dict[str, Any]]:
    """Returns the JSON objects at `value_at`: one, or those of a list; an engine may send anything."""
    value = value_at(document, name)
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]


def object_at(document: Any, name: str) -> dict[str, Any]:
    """Returns the first of `objects_at`; an empty one if there is none."""
    return next(iter(objects_at(document, name)), {})


def texts_in(node: Any) -> Iterator[str]:
    """Yields every text in a JSON value, names included, in no order."""
    nodes = [node]
    while nodes:
        node = nodes.pop()
        if isinstance(node, str):
            yield node
        elif isinstance(node, Mapping):
            nodes += [*node, *node.values()]
        elif isinstance(node, list | tuple):
            nodes += node


def as_display_text(value: Any) -> str:
    """Returns a value as one text: a list of scalars joined by comma and blank, anything deeper as JSON."""
    if isinstance(value, list | tuple) and not any(isinstance(item, list | tuple | Mapping) for item in value):
        return ", ".join(text for text in map(as_text, value) if text)
    return as_text(value)


def field_names(documents: list[Mapping[str, Any]]) -> list[str]:
    """Returns the names of all fields in these documents, sorted; names of nested fields contain dots."""
    names: set[str] = set()
    for document in documents:
        names.update(_names(document, 0))
    return sorted(names)


def _names(document: Mapping[str, Any], depth: int) -> list[str]:
    names: list[str] = []
    for name, value in document.items():
        if isinstance(value, Mapping) and value and depth < 2:
            names += [f"{name}.{inner}" for inner in _names(value, depth + 1)]
        else:
            names.append(name)
    return names
