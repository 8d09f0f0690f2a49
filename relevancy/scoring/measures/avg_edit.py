"""AvgEdit: average grade less the edit distance from the best list. The default scorer.

    AvgEdit@k = ⌊100 · mean of the rated grades in the first k / top grade⌋
                − Levenshtein distance of the first n grades from the best list;   n = min(k, returned), not below 0

For the distance an unrated document has grade 0; the best list holds all known grades above 0, descending, cut or
padded with 0 to n. Elements are compared, not characters. Without @k: as many results as are shown.
Source: the published description of Quepid's first default scorer.

Example: grades 10 8 9 – 5 1 4 – – – on 1–10: 61 − 4 = 57.
"""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray, ratio
from relevancy.scoring.definition import Compute, Definition, Example, Settings
from relevancy.scoring.formulas import at_k
from relevancy.scoring.reasons import of_average_less_edits
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.edits import SLACK, show_average_less_edits


def edit_distance(first: FloatArray, second: FloatArray, lengths: FloatArray) -> FloatArray:
    """Levenshtein distance of the first `lengths[q]` elements of each pair of rows of two [queries × n] matrices."""
    queries, width = first.shape
    steps = np.arange(width + 1.0)
    row = np.broadcast_to(steps, (queries, width + 1))
    distance = np.zeros(queries)
    for at in range(width):
        below = np.empty((queries, width + 1))
        below[:, 0] = at + 1
        replaced = row[:, :-1] + (first[:, at, None] != second)
        below[:, 1:] = np.minimum(row[:, 1:] + 1, replaced)
        # Insertions run along the row: the least of (value at j + distance from j), for all j before.
        row = np.minimum.accumulate(below - steps, axis=1) + steps
        distance = np.where(lengths == at + 1, row[:, at + 1], distance)
    return distance


def average_less_edits(slots: Slots, _settings: Settings) -> FloatArray:
    rated = (~np.isnan(slots.grades)).sum(axis=1, dtype=np.float64)
    mean = ratio(np.nansum(slots.grades, axis=1), rated)
    average = np.floor(100.0 * mean / slots.scale.top + SLACK)
    width = slots.grades.shape[1]
    best = np.zeros((len(rated), width))
    known = slots.known.best(width)
    best[:, : known.shape[1]] = known
    edits = edit_distance(np.fmax(slots.grades, 0.0), best, slots.held)
    return np.maximum(average - edits, 0.0) / 100.0


def points(values: FloatArray, _slots: Slots, _settings: Settings) -> FloatArray:
    """Whole numbers by definition."""
    return np.rint(100.0 * values)


def bounds(_compute: Compute, slots: Slots, _settings: Settings) -> tuple[FloatArray, FloatArray]:
    """Estimates: the average at its extremes, and an edit distance between 0 and n."""
    rated = (~np.isnan(slots.grades)).sum(axis=1, dtype=np.float64)
    left = slots.open.sum(axis=1, dtype=np.float64)
    graded, whole = np.nansum(slots.grades, axis=1), (rated + left) * slots.scale.top
    low = np.floor(100.0 * ratio(graded + left * slots.scale.lowest, whole) + SLACK) - slots.held
    high = np.floor(100.0 * ratio(graded + left * slots.scale.top, whole) + SLACK)
    return np.maximum(low, 0.0) / 100.0, high / 100.0


def formula(_settings: Settings, k: str) -> str:
    average = r"\left\lfloor 100 \cdot \frac{\bar{g}}{g_\text{top}} \right\rfloor"
    words = rf"\bar{{g}} \text{{: mean of the rated grades in the first }} {k}"
    edits = r"d \text{: edits between the list and the best list}"
    return at_k("AvgEdit", k) + rf"\max\left(0, {average} - d\right), \quad {words}, \quad {edits}"


AVG_EDIT = Definition(
    "AvgEdit",
    "Average grade less edits",
    "Average grade of the first k results in per cent of the top grade, less the edits that separate their order "
    "from the best list.",
    average_less_edits,
    needs=lambda _settings: "judged",
    bounds=bounds,
    points=points,
    formula=formula,
    advice="Use it to begin with: one number that says whether the results are good and in the right order, without a "
    "parameter to choose. It works with any scale.",
    pitfall="Unrated documents are left out of the average, so one good rating among ten unrated results looks like a "
    "good list: rate all that is shown. A long list can lose a point for each rank, which weighs little on ten results "
    "and ruins a hundred.",
    example=Example("AvgEdit@10", (10, 8, 9, None, 5, 1, 4, None, None, None), (), "1:10", 0.57),
    working=show_average_less_edits,
    reasons=of_average_less_edits,
)
