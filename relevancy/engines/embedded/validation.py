"""Checks of the values in an embedded engine's request. Every error is a `BadQuery` that names key and value."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, NoReturn

from relevancy.engines.errors import BadQuery

from .index import Description


def check_field(index: Description, name: str, key: str) -> str:
    """Returns the name if the index has such a field; else raises `BadQuery`."""
    if name not in index.fields:
        names = ", ".join(sorted(index.fields))
        raise BadQuery(
            f"“{key}” names the field “{name}”, which the index does not have.", hint=f"Use one of: {names}."
        )
    return name


def check_number(key: str, value: Any, low: float, high: float) -> float:
    """Returns the value as a number from `low` to `high`; else raises `BadQuery`."""
    try:
        number = float(value) if not isinstance(value, bool) else math.nan
    except (TypeError, ValueError):
        number = math.nan
    if not low <= number <= high:
        reject(key, value, f"a number from {low:g} to {high:g}")
    return number


def check_choice(value: Any, choices: Sequence[str], what: str) -> str:
    """Returns the value if it is one of the choices; else raises `BadQuery`. `what`: names the value, such as “type”."""
    if not isinstance(value, str) or value not in choices:
        raise BadQuery(
            f"“{value}” is not a valid {what} in a request to the embedded engine.",
            hint=f"Use one of: {', '.join(choices)}.",
        )
    return value


def reject(key: str, value: Any, expected: str) -> NoReturn:
    """Raises `BadQuery` for a value, saying what was expected."""
    raise BadQuery(
        f"“{key}” is {json.dumps(value, ensure_ascii=False)} in the request.", hint=f"It must be {expected}."
    )
