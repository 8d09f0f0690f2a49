"""The working of one score as the table that a page draws: cells with their kind, bars with their width."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString

from . import numbers

_RAISED = re.compile(r"\^(?:\(([^()]*)\)|(\w+))")
_KINDS = {"ideal_grade": "grade", "equal": "mark"}  # of columns, by key; the others hold numbers
_STATES = {
    "unrated": "it has no rating",
    "repeat": "it stood higher already",
    "skipped": "unrated, so taken out before ranks are counted",
    "empty": "",
}


@dataclass(frozen=True)
class Head:
    """A column's head. `kind` as in `Cell`."""

    text: SafeString
    kind: str
    ideal: bool = False


@dataclass(frozen=True)
class Cell:
    """`kind`: number · bar (`value` is its width, 0 to 100) · grade · mark (yes or no). `value` None: the cell is empty."""

    kind: str
    value: Any
    quiet: bool = False
    ideal: bool = False


@dataclass(frozen=True)
class Line:
    """One rank. `title` "" where only the ideal list reaches it; `note`: why the document counts for nothing."""

    rank: int | None
    title: str
    grade: float | None
    graded: bool
    note: str
    cells: Sequence[Cell]


@dataclass(frozen=True)
class Table:
    """What `scorers/_working.html` draws."""

    heads: Sequence[Head]
    lines: Sequence[Line]


def working_table(preview: Any) -> Table:
    """The working of a `scores.ScorerPreview`: rank, document, then the measure's columns, with a bar before each running sum.

    A script has no columns of its own: its table lists the documents that it was given, next to the best order.
    """
    if preview.working is None:
        return _of_script(preview)
    working = preview.working
    heads: list[Head] = []
    columns: list[list[Cell]] = []
    for column in sorted(working.columns, key=lambda column: column.is_ideal):
        if column.sums and not column.is_ideal:
            heads.append(Head(SafeString(""), "bar"))
            sums = working.column(column.sums)
            top = max((number or 0.0 for number in sums), default=0.0)
            shares = (None if number is None else number / top if top > 0 else 0.0 for number in sums)
            columns.append([Cell("bar", None if share is None else f"{max(0.0, 100 * share):.1f}") for share in shares])
        heads.append(Head(raised(column.title), _KINDS.get(column.key, "number"), column.is_ideal))
        columns.append(_cells(column, working.column(column.key)))
    lines = []
    for position, row in enumerate(working.rows):
        cells = [column[position] for column in columns]  # none if the measure only has its value
        shown = preview.documents[row.index] if row.index is not None else None
        title = shown.title if shown else ""
        lines.append(Line(row.rank, title, row.grade, shown is not None, _STATES.get(row.state, ""), cells))
    return Table(heads, lines)


def _of_script(preview: Any) -> Table:
    best = [*preview.best, *([None] * len(preview.documents))]
    lines = []
    for position, shown in enumerate(preview.documents):
        note = _STATES["repeat"] if shown.repeat else _STATES["unrated"] if shown.grade is None else ""
        lines.append(
            Line(shown.rank, shown.title, shown.grade, True, note, [Cell("grade", best[position], True, ideal=True)])
        )
    return Table([Head(SafeString("Best order"), "grade", True)], lines)


def _cells(column: Any, values: Sequence[float | None]) -> list[Cell]:
    """Returns the cells of a column; numbers without decimals if all of them are whole."""
    kind = _KINDS.get(column.key, "number")
    places = 0 if all(number is None or number == int(number) for number in values) else column.decimals
    is_quiet = column.is_ideal or column.key == "discount"
    return [
        Cell("number", numbers.fixed(number, places), is_quiet or number == 0, column.is_ideal)
        if kind == "number" and number is not None
        else Cell(kind, number, column.is_ideal, column.is_ideal)
        for number in values
    ]


def raised(title: str) -> SafeString:
    """Plain text with its exponents raised: 2^g − 1, p^(r − 1)."""
    parts, end = [], 0
    for exponent in _RAISED.finditer(title):
        parts.append(format_html("{}<sup>{}</sup>", title[end : exponent.start()], exponent[1] or exponent[2]))
        end = exponent.end()
    return SafeString("".join([*parts, conditional_escape(title[end:])]))
