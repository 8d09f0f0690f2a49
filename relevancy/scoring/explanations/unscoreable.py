"""Explains why a query has no score."""

from __future__ import annotations

import numpy as np

from relevancy.scoring.definition import Definition, Settings
from relevancy.scoring.slots import Slots

from .phrases import describe_count

NOTHING_RATED = "no document has been rated for this query"
_NO_GAIN = "no document with a grade above 0 is known"


def explain_unscoreable(definition: Definition, slots: Slots, settings: Settings) -> str:
    """Returns a clause such as "no document has been rated for this query", for one query that is not scoreable."""
    if not slots.known.counts[0]:
        return NOTHING_RATED
    needs = definition.needs(settings)
    if needs == "relevant" and not slots.count_known(settings.number("rel"))[0]:
        return f"no relevant document (grade {settings.number('rel'):g} or higher) is known"
    is_gain_known = bool(slots.count_known(np.nextafter(0.0, 1.0))[0])
    if needs == "gain" and not is_gain_known:
        return _NO_GAIN
    returned = int(slots.filled_counts[0])
    if needs == "judged" and not returned and not is_gain_known:
        return f"no results were returned and {_NO_GAIN}"
    if needs == "judged" and returned and not slots.is_rated.any():
        return describe_count(0, returned, slots.k, "rated")
    return "the measure is not defined for these grades"
