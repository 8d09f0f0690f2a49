"""The working of one score as data: a table with one row per rank, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from relevancy.scoring.arrays import FloatArray
from relevancy.scoring.slots import Slots

State = Literal["rated", "unrated", "repeat", "skipped", "empty"]
"""What a row is: a rated document · an unrated one · a repeat · an unrated one that was skipped · no result, only a
grade of the ideal list."""

NO_RESULTS = "No results to count: 0"


@dataclass(frozen=True)
class Column:
    """A column of numbers.

    Attributes:
        key: identifies the column.
        title: the heading in plain text.
        latex: the heading as LaTeX, if it is a formula.
        decimals: how many to print; None for a grade, which is printed as it is.
        sums: the key of the column of which this one is the running sum; "" for none.
        is_ideal: whether the column belongs to the ideal list rather than to the ranking.
    """

    key: str
    title: str
    latex: str = ""
    decimals: int | None = 3
    sums: str = ""
    is_ideal: bool = False


@dataclass(frozen=True)
class Row:
    """One rank, or one document that was skipped.

    Attributes:
        rank: from 1, as the measure counts; None for a document that was skipped.
        index: position of the document in the ranking, from 0; None if there is no document.
        grade: None for an unrated document and for a repeat.
        state: see `State`.
        numbers: one per column, None where the column is empty.
    """

    rank: int | None
    index: int | None
    grade: float | None
    state: State
    numbers: tuple[float | None, ...]


@dataclass(frozen=True)
class Working:
    """How a value is computed.

    Attributes:
        columns, rows: the table.
        result: the value; None if the query is not scoreable.
        conclusion: the last step: "19.162 ÷ 26.271 = 0.7294".
        totals: the numbers that the conclusion uses, by name, and the last number of each running sum, by the key of
            its column.
        notes: further facts, such as the edits of AvgEdit, one sentence each.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    result: float | None
    conclusion: str
    totals: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()

    def column(self, key: str) -> tuple[float | None, ...]:
        """Returns the numbers of one column, row by row. Raises `KeyError` if there is no such column."""
        index = {column.key: index for index, column in enumerate(self.columns)}[key]
        return tuple(row.numbers[index] for row in self.rows)


NumberedColumn = tuple[Column, FloatArray]
"""A column and its numbers from rank 1 on; it may end early, and a number may be NaN for an empty cell."""


def build_table(
    slots: Slots,
    columns: Sequence[NumberedColumn],
    result: float,
    conclusion: str,
    totals: Mapping[str, float],
    notes: Sequence[str] = (),
) -> Working:
    """Returns the working of the one query in `slots`, with one row for each result and each number of the longest column."""
    returned = int(slots.filled_counts[0])
    count = max([returned, *(len(numbers) for _, numbers in columns)])
    padded = [[*numbers.tolist(), *[None] * (count - len(numbers))] for _, numbers in columns]
    rows = []
    for index in range(count):
        grade, state = _grade_and_state(slots, index, returned)
        numbers = tuple(None if column[index] != column[index] else column[index] for column in padded)
        rows.append(Row(index + 1, index if index < returned else None, grade, state, numbers))
    sums = {column.key: last_sum(numbers) for column, numbers in columns if column.sums}
    all_totals = MappingProxyType(sums | {name: float(total) for name, total in totals.items()})
    return Working(
        tuple(column for column, _ in columns), tuple(rows), float(result), conclusion, all_totals, tuple(notes)
    )


def last_sum(running: FloatArray) -> float:
    """Returns the last number of a running sum; 0 if it is empty."""
    return float(running[-1]) if len(running) else 0.0


def _grade_and_state(slots: Slots, index: int, returned: int) -> tuple[float | None, State]:
    if index >= returned:
        return None, "empty"
    if slots.is_repeat[0, index]:
        return None, "repeat"
    grade = float(slots.grades[0, index])
    return (None, "unrated") if grade != grade else (grade, "rated")
