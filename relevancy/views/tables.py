"""Lists: their columns, and the order that addresses name: `sort=score`, or `sort=-score` with the highest first."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A column of a list.

    key: what addresses call the order by it; empty if the list cannot be sorted by it.
    starts_high: whether pressing its heading sorts by the highest values first; pressing it again reverses the order.
    """

    label: str
    key: str = ""
    title: str = ""
    css_class: str = "num"
    starts_high: bool = False


@dataclass(frozen=True)
class Heading:
    """A column under the order of the list. direction: the value of `aria-sort`, or empty. sort: what pressing it sorts by."""

    column: Column
    direction: str
    sort: str


def read_sort(text: str, keys: Collection[str], default: str) -> str:
    """Returns the order that an address names, or the default one."""
    return text if text.removeprefix("-") in keys else default


def build_headings(columns: Sequence[Column], sort: str) -> list[Heading]:
    """Returns the headings of a list that is sorted by `sort`; `_ui/heading.html` draws one."""
    headings = []
    for column in columns:
        direction, is_high_next = "", column.starts_high and column.key != ""
        if column.key and column.key == sort.removeprefix("-"):
            is_high_next = not sort.startswith("-")
            direction = "ascending" if is_high_next else "descending"
        headings.append(Heading(column, direction, f"-{column.key}" if is_high_next else column.key))
    return headings
