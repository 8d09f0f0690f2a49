"""Everything that is known about rankings under a measure: scores, ranges, ideal scores, reasons, workings.

What is not scoreable is decided here, once for all measures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

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


@dataclass(frozen=True, eq=False)
class Assessment:
    """The result of `assess`. Reasons and workings are built from it on demand, without computing a score again."""

    measure: Measure
    batch: Batch
    depth: int
    scores: Scores

    @property
    def gap(self) -> FloatArray:
        """[Q] how much each score could rise with the best ranking of the known documents."""
        return self.scores.ideal - self.scores.score

    def give_reasons(self, query: int = 0) -> sentence.ScoreReasons:
        """Returns why the query at this index has its score. A query that only counts as 0 is not scoreable.

        The range is one of the reasons if it was computed.
        """
        batch, slots, settings = self._select(query)
        scores = self.scores
        score = float(scores.score[query]) if scores.is_scoreable[query] else math.nan
        low, high = float(scores.low[query]), float(scores.high[query])
        return sentence.give_reasons(self.measure.definition, settings, batch, slots, score, low, high)

    def show_working(self, query: int = 0) -> Working:
        """Shows how the value of the query at this index is computed, rank by rank."""
        batch, slots, settings = self._select(query)
        value = float(self.scores.value[query]) if self.scores.is_scoreable[query] else math.nan
        return build_working(self.measure, settings, batch, slots, value)

    def _select(self, query: int) -> tuple[Batch, Slots, Settings]:
        batch = self.batch if len(self.batch) == 1 else self.batch.rows(query, query + 1)
        settings = self.measure.settings(batch.scale.relevant_from)
        slots = take_slots(batch, self.measure.cutoff, self.depth, skip_unrated=settings.skips_unrated)
        return batch, slots, settings


def assess(
    measure: Measure,
    batch: Batch,
    depth: int,
    *,
    count_unscoreable_as_zero: bool = False,
    bounds: bool = True,
    ideal: bool = True,
) -> Assessment:
    """Scores every query in one pass; the result gives their reasons, too.

        assessment = assess(parse_measure("nDCG@10"), batch, depth=10)
        assessment.scores.score     # and value, low, high, ideal, unrated: one element per query
        assessment.give_reasons(0)  # why the first query has its score
        assessment.show_working(0)  # how its value is computed, rank by rank

    `depth`: number of results displayed, the cutoff of measures that have none. `count_unscoreable_as_zero`: a query
    that is not scoreable has a score of 0, as in trec_eval, and an ideal score of 0. `bounds`, `ideal`: without them
    the columns `low` and `high`, or `ideal`, are NaN, which saves their time.
    """
    parts = [_assess_chunk(measure, part, depth, count_unscoreable_as_zero, bounds, ideal) for part in chunk(batch)]
    if len(parts) == 1:
        return Assessment(measure, batch, depth, parts[0])
    columns = (np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Scores))
    return Assessment(measure, batch, depth, Scores(*columns))


def score(
    measure: Measure, batch: Batch, depth: int, *, count_unscoreable_as_zero: bool = False, bounds: bool = True
) -> Scores:
    """Returns the scores of every query without the ideal ones; see `assess`."""
    return assess(
        measure, batch, depth, count_unscoreable_as_zero=count_unscoreable_as_zero, bounds=bounds, ideal=False
    ).scores


def compute_values(measure: Measure, batch: Batch, depth: int) -> FloatArray:
    """Returns [Q] the values alone; NaN if not scoreable."""
    return np.concatenate([_compute_values(measure, part, depth)[0] for part in chunk(batch)])


def score_ideal(measure: Measure, batch: Batch, depth: int) -> FloatArray:
    """Returns [Q] the scores of the best rankings of the known documents; NaN if not scoreable. See `assess`.

    A ranking of the best known documents has as many as the measure looks at: k of them, without a cutoff `depth`, and
    all of them if the measure counts all (AP, R and Bpref without a cutoff). The score is never below that of the
    ranking itself: a query that returned only its one good document has a higher average than all its known documents.
    """
    return assess(measure, batch, depth, bounds=False).scores.ideal


def give_reasons(measure: Measure, batch: Batch, depth: int) -> sentence.ScoreReasons:
    """Returns why the one query in `batch` has its score. Raises `GradeError` unless the batch has one query."""
    sentence.require_one_query(batch)
    return assess(measure, batch, depth, ideal=False).give_reasons()


def show_working(measure: Measure, batch: Batch, depth: int) -> Working:
    """Shows how the value of the one query in `batch` is computed. Raises `GradeError` unless the batch has one query."""
    sentence.require_one_query(batch)
    return assess(measure, batch, depth, bounds=False, ideal=False).show_working()


def chunk(batch: Batch) -> Sequence[Batch]:
    """Returns the batch in parts of limited size, by queries; at least one."""
    widest = max(1, batch.grades.shape[1], int(batch.known.counts.max(initial=0)))
    queries = max(1, _CHUNK_SIZE // widest)
    if len(batch) <= queries:
        return [batch]
    return [batch.rows(start, min(start + queries, len(batch))) for start in range(0, len(batch), queries)]


def _compute_values(measure: Measure, batch: Batch, depth: int) -> tuple[FloatArray, Slots, Settings]:
    """Returns [Q] values, NaN if not scoreable; the slots that the measure looks at; its parameters."""
    settings = measure.settings(batch.scale.relevant_from)
    slots = take_slots(batch, measure.cutoff, depth, skip_unrated=settings.skips_unrated)
    definition = measure.definition
    values = definition.compute(slots, settings).astype(np.float64)
    values[~_find_scoreable(definition, slots, settings)] = np.nan
    if definition.unrated_queries == "zero":
        values[slots.known.counts == 0] = 0.0
    return values, slots, settings


def _find_scoreable(definition: Definition, slots: Slots, settings: Settings) -> BoolArray:
    """Returns [Q] whether the query has ratings, and those that the measure needs."""
    has_ratings: BoolArray = slots.known.counts > 0
    needs = definition.needs(settings)
    if needs == "relevant":
        return has_ratings & (slots.count_known(settings.number("rel")) > 0)
    if needs == "gain":
        return has_ratings & (slots.count_known(np.nextafter(0.0, 1.0)) > 0)
    if needs == "judged":
        is_gain_known = slots.count_known(np.nextafter(0.0, 1.0)) > 0
        return np.where(slots.filled_counts > 0, slots.rated_counts > 0, is_gain_known).astype(np.bool_)
    return has_ratings


def _assess_chunk(
    measure: Measure, batch: Batch, depth: int, count_unscoreable_as_zero: bool, bounds: bool, ideal: bool
) -> Scores:
    definition = measure.definition
    values, slots, settings = _compute_values(measure, batch, depth)
    is_scoreable = ~np.isnan(values)
    observed = definition.to_scores(values, slots, settings)
    if count_unscoreable_as_zero:
        values, scores = np.nan_to_num(values, nan=0.0), np.nan_to_num(observed, nan=0.0)
    else:
        scores = observed
    # Bounds ask what rating the first k would lead to; once they are rated, none of them is skipped.
    displayed = slots
    if settings.skips_unrated:
        displayed = take_slots(batch, measure.cutoff, depth, skip_unrated=False)
    low, high = _compute_bounds(definition, displayed, settings, scores) if bounds else _no_bounds(scores)
    ideal_scores = np.full(len(batch), np.nan)
    if ideal:
        # No order of the documents changes a score that only counts as 0.
        ideal_scores = np.where(is_scoreable, np.fmax(_score_ideal(measure, batch, depth), observed), scores)
    return Scores(values, scores, low, high, ideal_scores, displayed.open_counts, is_scoreable)


def _compute_bounds(
    definition: Definition, slots: Slots, settings: Settings, scores: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Returns [Q] low and [Q] high; equal to the score where nothing is unrated."""
    if definition.bounds is None:
        return _no_bounds(scores)
    has_open = slots.open_counts > 0
    if not has_open.any():
        return scores, scores
    lowest, highest = (
        definition.to_scores(values, slots, settings)
        for values in definition.bounds(definition.compute, slots, settings)
    )
    low = np.where(has_open, np.minimum(lowest, scores).clip(0.0, 100.0), scores)
    high = np.where(has_open, np.maximum(highest, scores).clip(0.0, 100.0), scores)
    return low, high


def _no_bounds(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    return np.full(len(scores), np.nan), np.full(len(scores), np.nan)


def _score_ideal(measure: Measure, batch: Batch, depth: int) -> FloatArray:
    """Returns [Q] the scores of rankings of the best known documents."""
    definition = measure.definition
    k = measure.k(depth)
    if measure.cutoff is None and definition.needs(measure.settings(batch.scale.relevant_from)) == "relevant":
        k = max(k, int(batch.known.counts.max(initial=0)))
    values, slots, settings = _compute_values(measure, batch.ideal(k), k)
    return definition.to_scores(values, slots, settings)
