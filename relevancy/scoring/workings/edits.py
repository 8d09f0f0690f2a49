"""AvgEdit: the mean of the rated grades, and the edits that turn the list into the best one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relevancy.scoring.arrays import FloatArray
from relevancy.scoring.definition import Settings
from relevancy.scoring.slots import Slots
from relevancy.scoring.table import Column, Working, tabulate
from relevancy.scoring.wording import MINUS, half_up, plain

SLACK = 1e-9
"""Added before rounding down: 100 · mean / top is often a whole number that floating point misses from below."""


def show_average_less_edits(slots: Slots, _settings: Settings) -> Working:
    """The list and the best list side by side; the edits are in the notes."""
    found, best = compared(slots)
    held = len(found)
    grades = slots.grades[0, :held]
    rated = int((~np.isnan(grades)).sum())
    mean = 100.0 * (float(np.nansum(grades)) / rated if rated else 0.0) / slots.scale.top
    average = float(np.floor(mean + SLACK))
    notes = edits(found.tolist(), best.tolist())
    columns = [
        (Column("counted", "Grade, unrated as 0", decimals=None), found),
        (Column("ideal_grade", "Best list", decimals=None, ideal=True), best),
        (Column("equal", "Equal", decimals=0), (found == best).astype(np.float64)),
    ]
    less = average - len(notes)
    result = max(less, 0.0) / 100.0
    conclusion = f"⌊{_not_rounded_up(mean, average)}⌋ − {len(notes)} = {half_up(less, 0)}"
    if less < 0:
        conclusion += ", and not below 0: 0"
    totals = {"rated": float(rated), "mean": mean, "average": average, "edits": float(len(notes))}
    return tabulate(slots, columns, result, conclusion, totals, notes)


def compared(slots: Slots) -> tuple[FloatArray, FloatArray]:
    """The grades of the first k of the one query, unrated as 0, and the best list of the same length."""
    found = np.fmax(slots.grades[0, : int(slots.held[0])], 0.0)
    best = np.zeros(len(found))
    known = slots.known.best(len(found))[0]
    best[: len(known)] = known
    return found, best


def edits(found: Sequence[float], best: Sequence[float]) -> tuple[str, ...]:
    """One shortest way to turn `found` into `best`, one sentence for each edit; ranks are those of `found`.

    Levenshtein's distance: replacing, taking out and putting in cost 1 each.
    """
    cost = _costs(found, best)
    said: list[str] = []
    row, column = len(found), len(best)
    while row or column:
        same = bool(row and column) and found[row - 1] == best[column - 1]
        if row and column and cost[row][column] == cost[row - 1][column - 1] + (not same):
            if not same:
                said.append(f"Rank {row}: {plain(found[row - 1])} becomes {plain(best[column - 1])}.")
            row, column = row - 1, column - 1
        elif row and cost[row][column] == cost[row - 1][column] + 1:
            said.append(f"Rank {row}: {plain(found[row - 1])} is taken out.")
            row -= 1
        else:
            where = f"after rank {row}" if row else "before rank 1"
            said.append(f"{plain(best[column - 1])} is put in {where}.")
            column -= 1
    return tuple(reversed(said))


def _costs(found: Sequence[float], best: Sequence[float]) -> list[list[int]]:
    """[row][column]: edits that turn the first `row` elements of `found` into the first `column` of `best`."""
    cost = [list(range(len(best) + 1))]
    for at, element in enumerate(found):
        above, row = cost[-1], [at + 1]
        for other, wanted in enumerate(best):
            row.append(min(above[other] + (element != wanted), above[other + 1] + 1, row[other] + 1))
        cost.append(row)
    return cost


def _not_rounded_up(mean: float, average: float) -> str:
    """Two decimals, but never rounded up to the next whole number: ⌊56.997⌋ is not ⌊57.00⌋."""
    text = half_up(mean, 2)
    return text if float(text.replace(MINUS, "-")) < average + 1 else half_up(average + 0.99, 2)
