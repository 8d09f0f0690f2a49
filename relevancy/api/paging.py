"""Lists in pages. A cursor names the last item of a page, so that items added meanwhile neither repeat nor hide others."""

import base64
import json
import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet
from ninja import Schema
from pydantic import Field

from .inputs import Input

MAX_LIMIT = 200
MAX_CHARACTERS = 5_000_000  # of what decides the size of a page; at least one item is on it
_MAX_INTEGER = 2**63 - 1


class Page[T](Schema):
    """One page of a list. next: the cursor of the next page; null on the last one."""

    items: list[T]
    next: str | None = Field(None, examples=["WzUwXQ"])


class PageParameters(Input):
    """Which page of a list."""

    limit: int = Field(50, ge=1, le=MAX_LIMIT, description="The largest number of items.", examples=[50])
    cursor: str = Field("", max_length=200, description="`next` of the page before; empty for the first page.")


def paginate[M: Model](
    rows: QuerySet[M], page: PageParameters, *order: str, sizes: Callable[[list[M]], list[int]] | None = None
) -> dict[str, Any]:
    """Returns a page: its rows as `items`, and as `next` the cursor of the next page.

    order: names of fields that order the rows uniquely, all with a leading "-" or none. Raises `ValidationError` for the cursor.
    sizes: returns how many characters each of some rows takes. A page ends before it has more than `MAX_CHARACTERS`.
    """
    names, is_descending = [name.removeprefix("-") for name in order], order[0].startswith("-")
    if page.cursor:
        rows = rows.filter(_after(names, _decode(page.cursor, len(names)), "lt" if is_descending else "gt"))
    items, limit = list(rows.order_by(*order)[: page.limit + 1]), page.limit
    if sizes:
        limit = max(1, sum(total <= MAX_CHARACTERS for total in accumulate(sizes(items[:limit]))))
    if len(items) <= limit:
        return {"items": items, "next": None}
    last = json.dumps([getattr(items[limit - 1], name) for name in names])
    return {"items": items[:limit], "next": base64.urlsafe_b64encode(last.encode()).decode().rstrip("=")}


def _after(names: Sequence[str], values: Sequence[float], lookup: str) -> Q:
    """The rows behind `values` in the order of several fields."""
    condition = Q()
    for number, (name, value) in enumerate(zip(names, values, strict=True)):
        same = Q(**dict(zip(names[:number], values[:number], strict=True)))
        condition |= same & Q(**{f"{name}__{lookup}": value})
    return condition


def _decode(cursor: str, count: int) -> list[float]:
    try:
        values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, list) or len(values) != count or not all(_is_number(value) for value in values):
        raise ValidationError({"cursor": "This is not a cursor of this list. Use `next` of the page before."})
    return values


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= _MAX_INTEGER if isinstance(value, int) else math.isfinite(value)
