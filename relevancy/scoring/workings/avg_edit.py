"""The working of AvgEdit: the mean of the rated grades, and the edits that turn the list into the ideal one."""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray
from relevancy.scoring.definition import Settings
from relevancy.scoring.edit_distance import Edit, find_edits
from relevancy.scoring.rounding import MINUS, format_rounded, format_short
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.table import Column, Working, build_table

FLOOR_TOLERANCE = 1e-9
"""Added before rounding down: 100 · mean / top is often a whole number that floating point misses from below."""


def build_avg_edit_working(slots: Slots, _settings: Settings) -> Working:
    """Shows the list next to the ideal list; the edits are notes."""
    counted, ideal = list_and_ideal(slots)
    grades = slots.grades[0, : len(counted)]
    rated = int((~np.isnan(grades)).sum())
    mean = 100.0 * (float(np.nansum(grades)) / rated if rated else 0.0) / slots.scale.top
    average = float(np.floor(mean + FLOOR_TOLERANCE))
    edits = find_edits(counted.tolist(), ideal.tolist())
    columns = [
        (Column("counted", "Grade (unrated: 0)", decimals=None), counted),
        (Column("ideal_grade", "Ideal list", decimals=None, is_ideal=True), ideal),
        (Column("equal", "Equal", decimals=0), (counted == ideal).astype(np.float64)),
    ]
    difference = average - len(edits)
    result = max(difference, 0.0) / 100.0
    shown = format_rounded(mean, 2)
    if float(shown.replace(MINUS, "-")) >= average + 1:  # ⌊56.997⌋ is not ⌊57.00⌋
        shown = format_rounded(average + 0.99, 2)
    conclusion = f"⌊{shown}⌋ − {len(edits)} = {format_rounded(difference, 0)}"
    if difference < 0:
        conclusion += ", which is below 0 and counts as 0"
    totals = {"rated": float(rated), "mean": mean, "average": average, "edits": float(len(edits))}
    return build_table(slots, columns, result, conclusion, totals, [describe_edit(edit) for edit in edits])


def list_and_ideal(slots: Slots) -> tuple[FloatArray, FloatArray]:
    """Returns the grades of the first k results of the one query, unrated as 0, and the ideal list of the same length."""
    counted = np.fmax(slots.grades[0, : int(slots.filled_counts[0])], 0.0)
    ideal = np.zeros(len(counted))
    known = slots.known.best(len(counted))[0]
    ideal[: len(known)] = known
    return counted, ideal


def describe_edit(edit: Edit) -> str:
    """Returns the edit as an instruction: "Rank 2: replace 8 with 9."."""
    if edit.removed is None:
        position = f"After rank {edit.rank}" if edit.rank else "Before rank 1"
        return f"{position}: insert {format_short(edit.inserted or 0.0)}."
    if edit.inserted is None:
        return f"Rank {edit.rank}: remove {format_short(edit.removed)}."
    return f"Rank {edit.rank}: replace {format_short(edit.removed)} with {format_short(edit.inserted)}."
