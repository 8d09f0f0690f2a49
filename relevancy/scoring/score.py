"""Values and scores of a batch. What is not scoreable is decided here, once, for all measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from .arrays import BoolArray, FloatArray, IntArray
from .batch import Batch
from .definition import Definition, Settings
from .measure import Measure
from .slots import Slots, look

# Elements of one matrix worked on at a time: keeps temporaries in the processor's cache and memory bounded.
_CHUNK = 200_000


@dataclass(frozen=True, eq=False)
class Scores:
    """One element per query. NaN: not scoreable, or no bounds.

    `value`: as the measure defines it (0…1; CG and DCG: the sum). `score`, `low`, `high`: 0…100. `unrated`: how many
    of the first k documents returned have no rating; repeats are not counted.
    """

    value: FloatArray
    score: FloatArray
    low: FloatArray
    high: FloatArray
    unrated: IntArray


def score(measure: Measure, batch: Batch, shown: int, zero_unscoreable: bool = False, bounds: bool = True) -> Scores:
    """Scores of every query of `batch`; `shown`: how many results are displayed, the k of measures without cutoff.

    `zero_unscoreable`: a query that is not scoreable counts as 0, as trec_eval counts it. `bounds=False` leaves `low`
    and `high` NaN and saves their time.
    """
    parts = [_score(measure, part, shown, zero_unscoreable, bounds) for part in chunks(batch)]
    if len(parts) == 1:
        return parts[0]
    joined = (np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(Scores))
    return Scores(*joined)


def values(measure: Measure, batch: Batch, shown: int) -> FloatArray:
    """The values alone; NaN where not scoreable."""
    return _valued(measure, batch, shown)[0]


def chunks(batch: Batch) -> Sequence[Batch]:
    """The batch in parts of bounded size, by queries."""
    widest = max(1, batch.grades.shape[1], int(batch.known.counts.max(initial=0)))
    step = max(1, _CHUNK // widest)
    if len(batch) <= step:
        return [batch]
    return [batch.rows(start, min(start + step, len(batch))) for start in range(0, len(batch), step)]


def _valued(measure: Measure, batch: Batch, shown: int) -> tuple[FloatArray, Slots, Settings]:
    settings = measure.settings(batch.scale.relevant_from)
    slots = look(batch, measure.cutoff, shown, skip=settings.values.get("unrated") == "skip")
    found = measure.definition.compute(slots, settings).astype(np.float64)
    found[~_scoreable(measure.definition, slots, settings)] = np.nan
    if measure.definition.unrated_queries == "zero":
        found[batch.known.counts == 0] = 0.0
    return found, slots, settings


def _scoreable(definition: Definition, slots: Slots, settings: Settings) -> BoolArray:
    """Whether each query has ratings, and the kind of rating the measure needs."""
    any_rating = slots.known.counts > 0
    needs = definition.needs(settings)
    if needs == "relevant":
        return any_rating & (slots.known_between(settings.number("rel")) > 0)
    if needs == "gain":
        return any_rating & (slots.known_between(np.nextafter(0.0, 1.0)) > 0)
    if needs == "judged":
        gain_known = slots.known_between(np.nextafter(0.0, 1.0)) > 0
        return np.where(slots.held > 0, (~np.isnan(slots.grades)).any(axis=1), gain_known).astype(np.bool_)
    return any_rating


def _score(measure: Measure, batch: Batch, shown: int, zero_unscoreable: bool, bounds: bool) -> Scores:
    found, slots, settings = _valued(measure, batch, shown)
    if zero_unscoreable:
        found = np.nan_to_num(found, nan=0.0)
    points = measure.definition.points
    scores = points(found, slots, settings)
    # Bounds ask what rating the first k would give; once they are rated, there is nothing among them to skip.
    as_shown = look(batch, measure.cutoff, shown, skip=False)
    unrated = as_shown.open.sum(axis=1)
    low, high = np.full(len(batch), np.nan), np.full(len(batch), np.nan)
    if bounds and measure.definition.bounds is not None:
        least, most = measure.definition.bounds(measure.definition.compute, as_shown, settings)
        low = np.where(unrated > 0, np.minimum(points(least, as_shown, settings), scores).clip(0.0, 100.0), scores)
        high = np.where(unrated > 0, np.maximum(points(most, as_shown, settings), scores).clip(0.0, 100.0), scores)
    return Scores(found, scores, low, high, unrated)


@dataclass(frozen=True)
class CaseScore:
    """The score of a case, 0–100: mean of `scored` scoreable queries out of `queries`; None where there is none."""

    score: float | None
    low: float | None
    high: float | None
    scored: int
    queries: int


def case_score(scores: Scores, weights: Sequence[float] | FloatArray | None = None) -> CaseScore:
    """Mean over the scoreable queries; `weights`: one per query, none below 0."""
    weight = np.ones(len(scores.score)) if weights is None else np.asarray(weights, dtype=np.float64)
    if len(weight) != len(scores.score):
        raise ValueError(f"{len(weight)} weights were given for {len(scores.score)} queries.")
    if not (weight >= 0).all():
        raise ValueError("The weight of a query must be a number of at least 0.")
    scored = ~np.isnan(scores.score)

    def mean(of: FloatArray) -> float | None:
        total = weight[scored].sum()
        if not total > 0 or np.isnan(of[scored]).any():
            return None
        return float((of[scored] * weight[scored]).sum() / total)

    return CaseScore(mean(scores.score), mean(scores.low), mean(scores.high), int(scored.sum()), len(weight))
