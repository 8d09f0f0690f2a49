"""ERR: where a reader who stops at the first satisfying document stops."""

from __future__ import annotations

import numpy as np

from relevancy.scoring.definition import Settings
from relevancy.scoring.gains import gains
from relevancy.scoring.slots import Slots
from relevancy.scoring.table import Column, Working, last, tabulate
from relevancy.scoring.wording import half_up, plain


def show_expected_reciprocal_rank(slots: Slots, _settings: Settings) -> Working:
    """Probability to stop, probability to have come so far, 1 / rank, their product and its running sum."""
    held = int(slots.held[0])
    stops = gains(slots.grades, "exp")[0, :held] / np.exp2(slots.scale.top)
    arrives = np.cumprod(np.concatenate(([1.0], 1.0 - stops)))[:held]
    reciprocal = 1.0 / slots.ranks[:held]
    product = stops * arrives * reciprocal
    running = np.cumsum(product)
    top = plain(slots.scale.top)
    columns = [
        (Column("stops", f"Stops here p = (2^g − 1) / 2^{top}", rf"\frac{{2^{{g_r}} - 1}}{{2^{{{top}}}}}", 4), stops),
        (Column("arrives", "Comes so far", r"\prod_{i=1}^{r-1} (1 - p_i)", 4), arrives),
        (Column("reciprocal", "1 / rank", r"\frac{1}{r}", 4), reciprocal),
        (Column("product", "Product", decimals=4), product),
        (Column("sum", "Sum", sums="product", decimals=4), running),
    ]
    total = last(running)
    conclusion = f"Sum of the products = {half_up(total, 4)}" if held else "No document to count: 0"
    return tabulate(slots, columns, total, conclusion, {})
