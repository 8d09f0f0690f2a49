"""The working of Judged: which of the first k results are rated."""

from __future__ import annotations

import numpy as np

from relevancy.scoring.definition import Settings
from relevancy.scoring.rounding import format_rounded, format_short
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.table import NO_RESULTS, Column, Working, build_table


def build_judged_working(slots: Slots, _settings: Settings) -> Working:
    """Shows 1 for a rated result, 0 for an unrated one, nothing for a repeat."""
    returned = int(slots.filled_counts[0])
    rated = slots.is_rated[0, :returned].astype(np.float64)
    rated[slots.is_repeat[0, :returned]] = np.nan
    count, total = float(np.nansum(rated)), float((~np.isnan(rated)).sum())
    columns = [
        (Column("rated", "Rated", decimals=0), rated),
        (Column("count", "Running count", sums="rated", decimals=0), np.cumsum(np.nan_to_num(rated))),
    ]
    totals = {"whole": total}
    if not total:
        return build_table(slots, columns, 0.0, NO_RESULTS, totals)
    result = count / total
    conclusion = f"{format_short(count)} ÷ {format_short(total)} = {format_rounded(result, 4)}"
    return build_table(slots, columns, result, conclusion, totals)
