"""The working of ERR: where a user who stops at the first satisfying document stops."""

from __future__ import annotations

import numpy as np

from relevancy.scoring.definition import Settings
from relevancy.scoring.measures.gains import compute_gains
from relevancy.scoring.rounding import format_rounded, format_short
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.table import NO_RESULTS, Column, Working, build_table, last_sum


def build_err_working(slots: Slots, _settings: Settings) -> Working:
    """Shows the probabilities of stopping at a rank and of reaching it, 1 / rank, their product and its running sum."""
    returned = int(slots.filled_counts[0])
    stops = compute_gains(slots.grades, "exp")[0, :returned] / np.exp2(slots.scale.top)
    reaches = np.cumprod(np.concatenate(([1.0], 1.0 - stops)))[:returned]
    reciprocals = 1.0 / slots.ranks[:returned]
    products = stops * reaches * reciprocals
    sums = np.cumsum(products)
    top = format_short(slots.scale.top)
    columns = [
        (Column("stops", f"Stops here: p = (2^g − 1) / 2^{top}", rf"\frac{{2^{{g_r}} - 1}}{{2^{{{top}}}}}", 4), stops),
        (Column("arrives", "Reaches this rank", r"\prod_{i=1}^{r-1} (1 - p_i)", 4), reaches),
        (Column("reciprocal", "1 / rank", r"\frac{1}{r}", 4), reciprocals),
        (Column("product", "Product", decimals=4), products),
        (Column("sum", "Sum", sums="product", decimals=4), sums),
    ]
    total = last_sum(sums)
    conclusion = f"Sum of the products = {format_rounded(total, 4)}" if returned else NO_RESULTS
    return build_table(slots, columns, total, conclusion, {})
