"""AvgEdit: average grade minus edit distance from the ideal list. The default scorer.

    AvgEdit@k = ⌊100 · mean of the rated grades in the first k / top grade⌋
                − Levenshtein distance of the first n grades from the ideal list;   n = min(k, returned), at least 0

In the distance an unrated document has grade 0. The ideal list holds all known grades above 0, descending, cut or
padded with 0 to length n. Elements are compared, not characters. Without @k: all results displayed.
Source: the published description of Quepid's first default scorer.

Example: grades 10 8 9 – 5 1 4 – – – on the scale 1–10: 61 − 4 = 57.
"""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray, divide_or_zero
from relevancy.scoring.definition import Compute, Definition, Example, Needs, Settings
from relevancy.scoring.edit_distance import compute_edit_distances
from relevancy.scoring.measures.latex import left_side
from relevancy.scoring.reasons.by_measure import list_avg_edit_reasons
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.avg_edit import FLOOR_TOLERANCE, build_avg_edit_working


def compute_avg_edit(slots: Slots, _settings: Settings) -> FloatArray:
    mean = divide_or_zero(np.nansum(slots.grades, axis=1), slots.rated_counts)
    average = np.floor(100.0 * mean / slots.scale.top + FLOOR_TOLERANCE)
    known = slots.known.best(slots.grades.shape[1])
    ideal = np.zeros(slots.grades.shape)
    ideal[:, : known.shape[1]] = known
    edits = compute_edit_distances(np.fmax(slots.grades, 0.0), ideal, slots.filled_counts)
    return np.maximum(average - edits, 0.0) / 100.0


def to_whole_scores(values: FloatArray, _slots: Slots, _settings: Settings) -> FloatArray:
    """Returns whole numbers, which scores are by definition."""
    return np.rint(100.0 * values)


def estimate_bounds(_compute: Compute, slots: Slots, _settings: Settings) -> tuple[FloatArray, FloatArray]:
    """Returns the lowest average minus n edits and the highest average without edits: estimates, not exact bounds."""
    rated_sum = np.nansum(slots.grades, axis=1)
    top_sum = (slots.rated_counts + slots.open_counts) * slots.scale.top

    def average(grade: float) -> FloatArray:
        return np.floor(100.0 * divide_or_zero(rated_sum + slots.open_counts * grade, top_sum) + FLOOR_TOLERANCE)

    low = average(slots.scale.lowest) - slots.filled_counts
    return np.maximum(low, 0.0) / 100.0, average(slots.scale.top) / 100.0


def avg_edit_formula(_settings: Settings, k: str) -> str:
    average = r"\left\lfloor 100 \cdot \frac{\bar{g}}{g_\text{top}} \right\rfloor"
    mean = rf"\bar{{g}} \text{{: mean of the rated grades in the first }} {k}"
    edits = r"d \text{: edit distance from the ideal list}"
    return left_side("AvgEdit", k) + rf"\max\left(0, {average} - d\right), \quad {mean}, \quad {edits}"


def avg_edit_needs(_settings: Settings) -> Needs:
    return "judged"


AVG_EDIT = Definition(
    "AvgEdit",
    "Average grade minus edits",
    "The average grade of the first k results as a percentage of the top grade, minus the number of edits that turn "
    "the list into the ideal one.",
    compute_avg_edit,
    needs=avg_edit_needs,
    bounds=estimate_bounds,
    to_scores=to_whole_scores,
    formula=avg_edit_formula,
    advice="Use it to start with: a single number that says whether the results are good and in the right order. It has "
    "no parameters and works with every scale.",
    pitfall="Unrated documents are not part of the average, so one good rating among ten unrated results looks like a "
    "good list: rate everything that is displayed. Every rank can cost a point, which matters little for ten results and "
    "a lot for a hundred.",
    example=Example("AvgEdit@10", (10, 8, 9, None, 5, 1, 4, None, None, None), (), "1:10", 0.57),
    build_working=build_avg_edit_working,
    list_reasons=list_avg_edit_reasons,
)
