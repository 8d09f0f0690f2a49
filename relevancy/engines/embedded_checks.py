"""Checks of the values in an embedded engine's request. Every refusal is a `BadQuery` that names key and value."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, NoReturn

from .embedded_index import Description
from .errors import BadQuery


def field_of(index: Description, name: str, key: str) -> str:
    """The name, where the index has such a field."""
    if name not in index.fields:
        there = ", ".join(sorted(index.fields))
        raise BadQuery(f"“{key}” names the field “{name}”, which the index does not have. It has: {there}.")
    return name


def number(key: str, value: Any, low: float, high: float) -> float:
    """The value as a number from `low` to `high`; raises `BadQuery` for anything else."""
    try:
        number = float(value) if not isinstance(value, bool) else math.nan
    except (TypeError, ValueError):
        number = math.nan
    if not low <= number <= high:
        refuse(key, value, f"a number from {low:g} to {high:g}")
    return number


def one_of(value: Any, allowed: Sequence[str], what: str) -> str:
    """The value if it is among those allowed; else raises `BadQuery`, which begins with `what` and lists them."""
    if not isinstance(value, str) or value not in allowed:
        raise BadQuery(f"In the request, {what} “{value}”.", todo=f"There are: {', '.join(allowed)}.")
    return value


def refuse(key: str, value: Any, wanted: str) -> NoReturn:
    """Raise `BadQuery` for a value, saying what was wanted."""
    raise BadQuery(f"In the request, “{key}” is {json.dumps(value, ensure_ascii=False)}.", todo=f"It must be {wanted}.")
