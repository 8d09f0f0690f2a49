"""Builds the working of one score, rank by rank."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from relevancy.scoring.arrays import IntArray
from relevancy.scoring.batch import Batch
from relevancy.scoring.definition import Settings
from relevancy.scoring.measure import Measure
from relevancy.scoring.reasons.sentence import why_unscoreable
from relevancy.scoring.rounding import format_rounded
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.table import Row, Working, build_table


def build_working(measure: Measure, settings: Settings, batch: Batch, slots: Slots, value: float) -> Working:
    """Returns the working of the one query in `batch`.

    `slots`: those that the measure looks at. `value`: of the measure; NaN if the query is not scoreable. Without a
    working of its own, a measure gets a table of ranks and grades. Documents that `unrated='skip'` removes are listed
    at their position, without a rank.
    """
    definition = measure.definition
    build = definition.build_working
    if build is None:
        formatted = "–" if math.isnan(value) else format_rounded(value, 4)
        working = build_table(slots, (), value, f"{measure} = {formatted}", {})
    else:
        working = build(slots, settings)
    if math.isnan(value):
        reason = why_unscoreable(definition, slots, settings)
        working = replace(working, result=None, conclusion=f"Not scoreable: {reason}")
    elif definition.unrated_queries == "zero" and not batch.known.counts[0]:
        working = replace(working, result=value)
    if settings.skips_unrated:
        working = _insert_skipped(working, batch, slots.k)
    return working


def _insert_skipped(working: Working, batch: Batch, k: int) -> Working:
    """Sets the index of every row to the position in the ranking, and adds rows for the documents that were skipped
    before the last one counted."""
    kept: IntArray = np.flatnonzero(~np.isnan(batch.grades[0]) | batch.repeats[0])[:k]
    returned = min(int(batch.returned[0]), batch.grades.shape[1])
    end = int(kept[-1]) + 1 if len(kept) == k else returned
    counted = {int(index): replace(row, index=int(index)) for index, row in zip(kept, working.rows, strict=False)}
    skipped = Row(None, None, None, "skipped", (None,) * len(working.columns))
    rows = [counted.get(index) or replace(skipped, index=index) for index in range(end)]
    return replace(working, rows=(*rows, *working.rows[len(kept) :]))
