"""The working of one score as data: a table, rank by rank, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

import numpy as np

from .arrays import FloatArray
from .slots import Slots

State = Literal["rated", "unrated", "repeat", "skipped", "empty"]


@dataclass(frozen=True)
class Column:
    """One column: a `title` in plain text, the same as LaTeX where it holds a formula.

    `decimals`: how many to print; None: a grade, printed as it is written. `sums`: the key of the column that this one
    adds up from rank to rank. `ideal`: the column belongs to the ideal list, not to the ranking.
    """

    key: str
    title: str
    latex: str = ""
    decimals: int | None = 3
    sums: str = ""
    ideal: bool = False


@dataclass(frozen=True)
class Row:
    """One rank, or one document that was skipped.

    `rank`: from 1, as the measure counts; None where the document was skipped. `index`: the document's place in the
    ranking, from 0; None where no document is counted. `state`: 'rated' · 'unrated' · 'repeat' · 'skipped' (unrated
    and taken out) · 'empty' (only the ideal list reaches this rank). `numbers`: one per column, None where it is empty.
    """

    rank: int | None
    index: int | None
    grade: float | None
    state: State
    numbers: tuple[float | None, ...]


@dataclass(frozen=True)
class Working:
    """`result`: the value, None where it is not scoreable; `conclusion` leads to it: "19.162 ÷ 26.271 = 0.7294".

    `totals`: the sums and counts that the conclusion uses, by name; and where each running sum ends, by its column's
    key.
    `notes`: further facts, such as the edits of AvgEdit, one sentence each.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    result: float | None
    conclusion: str
    totals: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()

    def column(self, key: str) -> tuple[float | None, ...]:
        """The numbers of one column, row by row; `KeyError` where there is none of that key."""
        at = {column.key: place for place, column in enumerate(self.columns)}[key]
        return tuple(row.numbers[at] for row in self.rows)


Filled = tuple[Column, FloatArray]
"""A column and its numbers from rank 1 on: as many as it has, NaN where a rank has none."""


def tabulate(
    slots: Slots,
    columns: Sequence[Filled],
    result: float,
    conclusion: str,
    totals: Mapping[str, float],
    notes: Sequence[str] = (),
) -> Working:
    """The working of the one query of `slots`; it has as many rows as documents or numbers in the longest column."""
    held = int(slots.held[0])
    count = max([held, *(len(numbers) for _, numbers in columns)])
    padded = [np.concatenate((numbers, np.full(count - len(numbers), np.nan))).tolist() for _, numbers in columns]
    rows = []
    for at in range(count):
        grade, state = _slot(slots, at, held)
        numbers = tuple(None if column[at] != column[at] else column[at] for column in padded)
        rows.append(Row(at + 1, at if at < held else None, grade, state, numbers))
    ends = {column.key: last(numbers) for column, numbers in columns if column.sums}
    total = MappingProxyType(ends | {key: float(value) for key, value in totals.items()})
    return Working(tuple(column for column, _ in columns), tuple(rows), float(result), conclusion, total, tuple(notes))


def last(running: FloatArray) -> float:
    """Where a running sum ends; 0 where there is nothing to add up."""
    return float(running[-1]) if len(running) else 0.0


def _slot(slots: Slots, at: int, held: int) -> tuple[float | None, State]:
    if at >= held:
        return None, "empty"
    if slots.repeated[0, at]:
        return None, "repeat"
    grade = float(slots.grades[0, at])
    return (None, "unrated") if grade != grade else (grade, "rated")
