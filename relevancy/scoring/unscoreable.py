"""Why a query has no score."""

from __future__ import annotations

import numpy as np

from .definition import Definition, Settings
from .phrases import some
from .slots import Slots


def why_unscoreable(definition: Definition, slots: Slots, settings: Settings) -> str:
    """A clause such as "nobody has rated anything for this query"; for one query that is not scoreable."""
    if not slots.known.counts[0]:
        return "nobody has rated anything for this query"
    needs = definition.needs(settings)
    if needs == "relevant" and not slots.known_between(settings.number("rel"))[0]:
        return f"no relevant document is known, none with a grade of at least {settings.number('rel'):g}"
    no_gain = not slots.known_between(np.nextafter(0.0, 1.0))[0]
    if needs == "gain" and no_gain:
        return "no document with a grade above 0 is known"
    held = int(slots.held[0])
    if needs == "judged" and not held and no_gain:
        return "nothing was returned and no document with a grade above 0 is known"
    if needs == "judged" and held and np.isnan(slots.grades).all():
        return some(0, held, slots.depth, "rated")
    return "the measure gives no value for these grades"
