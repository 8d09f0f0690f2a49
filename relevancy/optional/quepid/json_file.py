"""How files for Quepid are written: one JSON object with a list that may be long, and what the format does not hold."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from relevancy.formats.json_stream import write_list


def write_object(
    head: Mapping[str, Any], key: str, elements: Iterator[Mapping[str, Any]], read_tail: Callable[[], Mapping[str, Any]]
) -> Iterator[str]:
    """Yields the parts of an object: the members of `head`, a list with one element on each line, and the members that `read_tail`
    returns once the list has been written."""
    yield f"{{\n{_members(head)},\n  {json.dumps(key)}: "
    yield from write_list(json.dumps(element, ensure_ascii=False) for element in elements)
    yield f",\n{_members(read_tail(), indent=4)}\n}}\n"


def _members(values: Mapping[str, Any], indent: int | None = None) -> str:
    return ",\n".join(
        f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False, indent=indent)}" for key, value in values.items()
    )
