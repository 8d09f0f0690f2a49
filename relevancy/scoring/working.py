"""Show the working: how the score of one query comes about, rank by rank."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from .arrays import IntArray
from .batch import Batch
from .definition import Settings
from .errors import GradeError
from .measure import Measure
from .score import values
from .slots import Slots, look
from .table import Row, Working, tabulate
from .unscoreable import why_unscoreable
from .wording import half_up


def show_working(measure: Measure, batch: Batch, shown: int) -> Working:
    """The table of the one query in `batch`; `shown` as in `score`. `GradeError` for a batch of more or fewer.

    A measure that brings no working of its own gets ranks, grades and its value. Documents that `unrated='skip'` takes
    out are listed where they stood, without a rank.
    """
    slots, settings = seen(measure, batch, shown)
    definition = measure.definition
    value = float(values(measure, batch, shown)[0])
    show = definition.working
    working = show(slots, settings) if show is not None else _only_grades(slots, measure, value)
    if math.isnan(value):
        reason = why_unscoreable(definition, slots, settings)
        working = replace(working, result=None, conclusion=f"Not scoreable: {reason}")
    elif definition.unrated_queries == "zero" and not batch.known.counts[0]:
        working = replace(working, result=value)
    if settings.values.get("unrated") == "skip":
        working = _with_skipped(working, batch, slots.depth)
    return working


def seen(measure: Measure, batch: Batch, shown: int) -> tuple[Slots, Settings]:
    """What the measure sees of the one query in `batch`, and its parameters with every gap filled."""
    only_one(batch)
    settings = measure.settings(batch.scale.relevant_from)
    return look(batch, measure.cutoff, shown, skip=settings.values.get("unrated") == "skip"), settings


def only_one(batch: Batch) -> None:
    """`GradeError` unless the batch has exactly one query."""
    if len(batch) != 1:
        raise GradeError(f"The working and the explanation of a score are those of one query, not of {len(batch)}.")


def _only_grades(slots: Slots, measure: Measure, value: float) -> Working:
    return tabulate(slots, (), value, f"{measure} = {half_up(value, 4) if not math.isnan(value) else '–'}", {})


def _with_skipped(working: Working, batch: Batch, depth: int) -> Working:
    """Every row at its place in the ranking, and rows for the documents taken out before the last one counted."""
    kept: IntArray = np.flatnonzero(~np.isnan(batch.grades[0]) | batch.repeats[0])[:depth]
    held = min(int(batch.returned[0]), batch.grades.shape[1])
    end = int(kept[-1]) + 1 if len(kept) == depth else held
    counted = {int(place): replace(row, index=int(place)) for place, row in zip(kept, working.rows, strict=False)}
    gap = Row(None, None, None, "skipped", (None,) * len(working.columns))
    rows = [counted.get(place) or replace(gap, index=place) for place in range(end)]
    return replace(working, rows=(*rows, *working.rows[len(kept) :]))
