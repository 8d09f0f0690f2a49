"""Perfect@k: the share of the first k results that have the top grade.

Example: grades 3 3 2 –, scale 0–3: Perfect@4 = 2/4.
"""

from relevancy.scoring import Definition, Example, Settings, Slots
from relevancy.scoring.arrays import FloatArray
from relevancy.scoring.bounds.placements import extreme_bounds


def compute_perfect(slots: Slots, settings: Settings) -> FloatArray:
    """Returns [Q] values of the slots of Q queries."""
    return slots.is_relevant(slots.scale.top).sum(axis=1) / slots.k


PERFECT = Definition(
    name="Perfect",
    title="Perfect results",
    description="The share of the first k results that have the top grade.",
    compute=compute_perfect,
    cutoff="required",
    bounds=extreme_bounds,
    formula=r"\text{Perfect@}k = \frac{\text{results with the top grade}}{k}",
    advice="Use it when only perfect results count, such as on a page with a single answer.",
    pitfall="A list of very good results scores 0 if none of them is perfect.",
    example=Example("Perfect@4", (3, 3, 2, None), (), "0:3", 0.5),
)
