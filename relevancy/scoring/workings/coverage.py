"""Judged: which of the documents shown are rated."""

from __future__ import annotations

import numpy as np

from relevancy.scoring.definition import Settings
from relevancy.scoring.slots import Slots
from relevancy.scoring.table import Column, Working, tabulate
from relevancy.scoring.wording import half_up, plain


def show_judged(slots: Slots, _settings: Settings) -> Working:
    """Rated 1, unrated 0; a repeat is neither."""
    held = int(slots.held[0])
    rated = (~np.isnan(slots.grades[0, :held])).astype(np.float64)
    rated[slots.repeated[0, :held]] = np.nan
    count, whole = float(np.nansum(rated)), float((~np.isnan(rated)).sum())
    columns = [
        (Column("rated", "Rated", decimals=0), rated),
        (Column("count", "So far", sums="rated", decimals=0), np.cumsum(np.nan_to_num(rated))),
    ]
    totals = {"whole": whole}
    if not whole:
        return tabulate(slots, columns, 0.0, "No document to count: 0", totals)
    result = count / whole
    return tabulate(slots, columns, result, f"{plain(count)} ÷ {plain(whole)} = {half_up(result, 4)}", totals)
