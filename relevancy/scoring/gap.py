"""The gap between what a query scores and what it could: where work is worth most."""

from __future__ import annotations

import numpy as np

from .arrays import FloatArray
from .batch import Batch
from .measure import Measure
from .score import chunks, score


def ideal_scores(measure: Measure, batch: Batch, shown: int) -> FloatArray:
    """[Q] the scores 0…100, had every query returned its best known documents, best first; NaN: not scoreable.

    As many of them as the measure looks at: its k, without one `shown`, and all that are known where it counts them
    all (AP, R, Bpref without a cutoff). Never below the score of the ranking itself, so that `ideal − observed` is
    never negative: a query that returned nothing but its one good document has a better average than all it knows.
    """
    parts = chunks(batch)
    return np.concatenate([_ideal_scores(measure, part, shown) for part in parts])


def _ideal_scores(measure: Measure, batch: Batch, shown: int) -> FloatArray:
    observed = score(measure, batch, shown, bounds=False).score
    depth = measure.depth(shown)
    if measure.cutoff is None and measure.definition.needs(measure.settings(batch.scale.relevant_from)) == "relevant":
        depth = max(depth, int(batch.known.counts.max(initial=0)))
    best = score(measure, batch.ideal(depth), depth, bounds=False).score
    return np.where(np.isnan(observed), np.nan, np.fmax(best, observed))
