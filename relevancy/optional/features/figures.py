"""What each feature is worth alone: coverage, distribution, the score of the order by it, the tags for which it helps, correlations.

Computed when the page is opened, with the ratings of now. Only rated documents count, but for coverage and distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from relevancy.scoring.arrays import BoolArray, FloatArray

from .dataset import Dataset
from .orders import OrderScorer

MEASURE = "nDCG@10"
BINS = 12
MIN_TAG_QUERIES = 5
MAX_TAGS = 3
MAX_DOCUMENTS = 200_000  # more are not computed while a page waits


@dataclass(frozen=True)
class TagScore:
    """The mean score of a feature on the queries with a tag, and by how much it is above its mean on all queries."""

    tag: str
    queries: int
    score: float
    difference: float


@dataclass(frozen=True)
class FeatureFigures:
    """A feature.

    coverage: percentage of the logged documents that have a value. low, median, high: of these values; None without any.
    bars: heights of a histogram from `low` to `high`, 0 to 100 for the highest.
    score: points of the order by the feature alone, None if no query can be scored; documents without a value come last.
    best, worst: tags with the largest differences above and below the mean.
    """

    name: str
    coverage: float
    low: float | None
    median: float | None
    high: float | None
    bars: Sequence[int]
    score: float | None
    best: Sequence[TagScore]
    worst: Sequence[TagScore]


@dataclass(frozen=True)
class FigureTable:
    """All features. random: points of a random order of the rated documents. correlations: [F × F] by ranks, None where one of the two
    does not vary; see `correlate`."""

    rows: Sequence[FeatureFigures]
    queries: int
    random: float | None
    correlations: Sequence[Sequence[float | None]]


def build_figures(dataset: Dataset) -> FigureTable:
    """Returns the figures of a log."""
    scorer = OrderScorer(dataset, MEASURE)
    used = scorer.used()
    tags = {tag: np.array(at, np.int64) for tag, at in dataset.tags.items()}
    rows = [_figures(dataset, scorer, used, number, tags) for number in range(len(dataset.names))]
    random = scorer.mean(scorer.points(np.zeros(len(dataset.grades))), used)
    return FigureTable(rows, int(used.sum()), _finite(random), correlate(dataset))


def _figures(
    dataset: Dataset,
    scorer: OrderScorer,
    used: BoolArray,
    number: int,
    tags: dict[str, np.ndarray],  # type: ignore[type-arg]
) -> FeatureFigures:
    values = dataset.values[:, number]
    known = values[np.isfinite(values)]
    points = scorer.points(values)
    score = scorer.mean(points, used)
    by_tag = []
    for tag, positions in tags.items():
        has_tag = np.zeros(len(used), np.bool_)
        has_tag[positions] = True
        if (count := int((has_tag & used).sum())) >= MIN_TAG_QUERIES:
            of_tag = scorer.mean(points, has_tag & used)
            by_tag.append(TagScore(tag, count, of_tag, of_tag - score))
    by_tag.sort(key=lambda row: -row.difference)
    low, median, high = (float(f(known)) for f in (np.min, np.median, np.max)) if len(known) else (None, None, None)
    return FeatureFigures(
        name=dataset.names[number],
        coverage=100 * len(known) / len(values) if len(values) else 0.0,
        low=low,
        median=median,
        high=high,
        bars=draw_bars(known),
        score=_finite(score),
        best=[row for row in by_tag[:MAX_TAGS] if row.difference > 0],
        worst=[row for row in reversed(by_tag[-MAX_TAGS:]) if row.difference < 0],
    )


def draw_bars(values: FloatArray) -> list[int]:
    """Returns the heights of a histogram of 12 bars, 100 for the highest; a bar that is not empty is at least 1."""
    if not len(values):
        return []
    counts, _ = np.histogram(values, BINS)
    return [int(np.ceil(100 * count / counts.max())) for count in counts]


def correlate(dataset: Dataset) -> list[list[float | None]]:
    """Returns [F × F] the rank correlations (Spearman) of the features over the rated documents, a missing value counted as 0."""
    rated = dataset.filled[dataset.is_rated]
    ranks = np.column_stack([_ranks(column) for column in rated.T]) if len(rated) else rated
    deviations = ranks.std(axis=0) if len(ranks) else np.zeros(len(dataset.names))
    with np.errstate(invalid="ignore", divide="ignore"):
        centred = (ranks - ranks.mean(axis=0)) / deviations if len(ranks) else ranks
    table: list[list[float | None]] = []
    for first in range(len(dataset.names)):
        row: list[float | None] = []
        for second in range(len(dataset.names)):
            if deviations[first] > 0 and deviations[second] > 0:
                row.append(float(np.clip((centred[:, first] * centred[:, second]).mean(), -1, 1)))
            else:
                row.append(None)
        table.append(row)
    return table


def _ranks(column: FloatArray) -> FloatArray:
    """Returns the ranks of values, equal ones with their mean."""
    _, inverse, counts = np.unique(column, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse], np.float64)


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
