"""What is known about rankings under a measure: scores, ranges, ideal scores, reasons, workings.

What is not scoreable is decided here, once for all measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .arrays import BoolArray, FloatArray, IntArray
from .batch import Batch
from .definition import Definition, Settings
from .measure import Measure
from .reasons import sentence
from .slots import Slots, take_slots
from .workings.table import Working
from .workings.working import build_working

# Elements of one matrix: keeps temporary arrays in the processor's cache and limits memory.
_CHUNK_SIZE = 200_000


@dataclass(frozen=True, eq=False)
class Scores:
    """Columns with one element per query; NaN if the query is not scoreable.

    Attributes:
        value: as the measure defines it: 0 to 1; for CG and DCG the sum.
        score: 0 to 100.
        low, high: the range of the score; NaN for measures without one, or if it was not asked for.
        ideal: the score of the best ranking of the known documents, never below `score`; NaN if it was not asked for.
        unrated: number of unrated documents in the first k; repeats do not count.
        is_scoreable: whether the measure gives the query a value.
    """

    value: FloatArray
    score: FloatArray
    low: FloatArray
    high: FloatArray
    ideal: FloatArray
    unrated: IntArray
    is_scoreable: BoolArray


def score(
    measure: Measure,
    batch: Batch,
    depth: int,
    *,
    count_unscoreable_as_zero: bool = False,
    bounds: bool = True,
    ideal: bool = False,
) -> Scores:
    """Returns the scores of every query.

    `depth`: number of results displayed, the cutoff of measures that have none. `count_unscoreable_as_zero`: a query
    that is not scoreable has a score of 0, as in trec_eval, and an ideal score of 0. `bounds`, `ideal`: without them
    the columns `low` and `high`, or `ideal`, are NaN, which saves their time.

    A ranking of the best known documents has as many as the measure looks at: k of them, without a cutoff `depth`, and
    all of them if the measure counts all (AP, R and Bpref without a cutoff). The ideal score is never below that of the
    ranking itself: a query that returned only its one good document has a higher average than all its known documents.
    """
    columns = [_score_chunk(measure, part, depth, count_unscoreable_as_zero, bounds, ideal) for part in chunk(batch)]
    return Scores(*map(np.concatenate, zip(*columns, strict=True)))


def give_reasons(measure: Measure, batch: Batch, depth: int) -> sentence.ScoreReasons:
    """Returns why the one query in `batch` has its score; one that only counts as 0 is not scoreable.

    Raises `GradeError` unless the batch has one query.
    """
    sentence.require_one_query(batch)
    scores = score(measure, batch, depth)
    slots, settings = _look_at(measure, batch, depth)
    of_query = float(scores.score[0]), float(scores.low[0]), float(scores.high[0])
    return sentence.give_reasons(measure.definition, settings, batch, slots, *of_query)


def show_working(measure: Measure, batch: Batch, depth: int) -> Working:
    """Shows how the value of the one query in `batch` is computed, rank by rank. Raises `GradeError` unless the batch has
    one query."""
    sentence.require_one_query(batch)
    slots, settings = _look_at(measure, batch, depth)
    value, _ = _compute(measure.definition, slots, settings)
    return build_working(measure, settings, batch, slots, float(value[0]))


def chunk(batch: Batch) -> Sequence[Batch]:
    """Returns the batch in parts of limited size, by queries; at least one."""
    widest = max(1, batch.grades.shape[1], int(batch.known.counts.max(initial=0)))
    queries = max(1, _CHUNK_SIZE // widest)
    if len(batch) <= queries:
        return [batch]
    return [batch.rows(start, min(start + queries, len(batch))) for start in range(0, len(batch), queries)]


def _look_at(measure: Measure, batch: Batch, depth: int) -> tuple[Slots, Settings]:
    """Returns the slots that a measure looks at, and the values of its parameters."""
    settings = measure.settings(batch.scale.relevant_from)
    return take_slots(batch, measure.cutoff, depth, skip_unrated=settings.skips_unrated), settings


def _compute(definition: Definition, slots: Slots, settings: Settings) -> tuple[FloatArray, FloatArray]:
    """Returns [Q] values and [Q] scores, NaN if not scoreable."""
    values = definition.compute(slots, settings).astype(np.float64)
    values[~_find_scoreable(definition, slots, settings)] = np.nan
    if definition.unrated_queries == "zero":
        values[slots.known.counts == 0] = 0.0
    return values, definition.to_scores(values, slots, settings)


def _find_scoreable(definition: Definition, slots: Slots, settings: Settings) -> BoolArray:
    """Returns [Q] whether the query has ratings, and those that the measure needs."""
    has_ratings: BoolArray = slots.known.counts > 0
    needs = definition.needs(settings)
    if needs == "relevant":
        return has_ratings & (slots.count_known(settings.number("rel")) > 0)
    if needs == "gain":
        return has_ratings & slots.is_gain_known
    if needs == "judged":
        return np.where(slots.filled_counts > 0, slots.rated_counts > 0, slots.is_gain_known).astype(np.bool_)
    return has_ratings


def _score_chunk(
    measure: Measure, batch: Batch, depth: int, count_unscoreable_as_zero: bool, bounds: bool, ideal: bool
) -> tuple[FloatArray | IntArray | BoolArray, ...]:
    """Returns the columns of `Scores`."""
    definition = measure.definition
    slots, settings = _look_at(measure, batch, depth)
    values, scores = _compute(definition, slots, settings)
    is_scoreable = ~np.isnan(values)
    ideal_scores = low = high = np.full(len(batch), np.nan)
    if ideal:
        k = measure.cutoff or depth
        if measure.cutoff is None and definition.needs(settings) == "relevant":
            k = max(k, int(batch.known.counts.max(initial=0)))
        best_slots, _ = _look_at(measure, batch.ideal(k), k)
        _, best_scores = _compute(definition, best_slots, settings)
        # No order of the documents changes a score that only counts as 0.
        unscoreable = 0.0 if count_unscoreable_as_zero else np.nan
        ideal_scores = np.where(is_scoreable, np.fmax(best_scores, scores), unscoreable)
    if count_unscoreable_as_zero:
        values, scores = np.nan_to_num(values, nan=0.0), np.nan_to_num(scores, nan=0.0)
    # Bounds ask what rating the first k would lead to; once they are rated, none of them is skipped.
    displayed = take_slots(batch, measure.cutoff, depth, skip_unrated=False) if settings.skips_unrated else slots
    if bounds and definition.bounds is not None:
        low = high = scores
        has_open = displayed.open_counts > 0
        if has_open.any():
            lowest, highest = definition.bounds(definition.compute, displayed, settings)
            lowest = np.minimum(definition.to_scores(lowest, displayed, settings), scores)
            highest = np.maximum(definition.to_scores(highest, displayed, settings), scores)
            low = np.where(has_open, lowest.clip(0.0, 100.0), scores)
            high = np.where(has_open, highest.clip(0.0, 100.0), scores)
    return values, scores, low, high, ideal_scores, displayed.open_counts, is_scoreable
