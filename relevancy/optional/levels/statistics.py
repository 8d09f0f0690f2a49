"""Where the level of a series of scores changed: Pettitt's test, applied to a series and again to both parts of it.

Source: Pettitt, "A non-parametric approach to the change-point problem", Applied Statistics 28, 1979. The test asks whether values
before and after some point have the same distribution; it uses ranks only. It takes for granted that without a change every order of
the values is equally likely: a slow trend is found as well, and divided into levels, and so is noise that is not independent.

See docs/decisions/0089.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from relevancy.statistics.arrays import FloatArray
from relevancy.statistics.corrections import ALPHA, correct_holm
from relevancy.statistics.errors import StatisticsError
from relevancy.statistics.generators import SEED, build_generator
from relevancy.statistics.verdicts import EQUIVALENCE_MARGIN

MIN_LEVEL_VALUES = 8  # of fewer values no order has a p below .05: of seven, the smallest p is 2 / 35
MAX_EXACT_VALUES = 8  # 40,320 orders
MAX_RANDOM_VALUES = 100
PERMUTATIONS = 10_000
DECIMALS = 6  # of points: values that differ by less are the same


@dataclass(frozen=True)
class ChangePoint:
    """Result of Pettitt's test. position: of the first value after the change. p: None for fewer than two values."""

    position: int
    p: float | None


@dataclass(frozen=True)
class LevelChange:
    """A change of the level within a series.

    position: of the first value of the new level.
    before, after: means of the values from the change before to this one, and from this one to the next.
    values_before, values_after: how many these are.
    p: corrected for all tests of all series by Holm's method.
    """

    position: int
    before: float
    after: float
    values_before: int
    values_after: int
    p: float

    @property
    def difference(self) -> float:
        """After minus before, in points."""
        return self.after - self.before


def pettitt_test(
    values: Sequence[float] | FloatArray, *, permutations: int = PERMUTATIONS, seed: int = SEED
) -> ChangePoint:
    """Returns the point with the largest `|U|`, and its p.

    With the ranks R of n values (means of ranks for ties), `U_t = 2 · Σ_{i ≤ t} R_i − t (n + 1)` and `K = max |U_t|`. p is the share
    of orders of the values whose K is at least as large: of all orders for up to 8 values; of random ones, `(1 + hits) / (1 + 10,000)`,
    for up to 100; for more, Pettitt's approximation `2 exp(−6 K² / (n³ + n²))`.

    Raises StatisticsError if a value is not finite.
    """
    points = np.round(np.asarray(values, dtype=np.float64), DECIMALS)
    if points.ndim != 1 or not np.isfinite(points).all():
        raise StatisticsError("Every value of a series must be a finite number.")
    n = len(points)
    if n < 2:
        return ChangePoint(0, None)
    ranks = rank_values(points)
    sizes = np.abs(_statistics(ranks[None, :]))[0]
    position = int(sizes.argmax()) + 1
    largest = float(sizes.max())
    if n > MAX_RANDOM_VALUES:
        return ChangePoint(position, min(1.0, 2.0 * math.exp(-6.0 * largest**2 / (n**3 + n**2))))
    if n <= MAX_EXACT_VALUES:
        orders = ranks[np.array(list(itertools.permutations(range(n))))]
        return ChangePoint(position, float(_reaches(orders, largest).mean()))
    orders = build_generator(seed).permuted(np.tile(ranks, (permutations, 1)), axis=1)
    return ChangePoint(position, (1 + int(_reaches(orders, largest).sum())) / (1 + permutations))


def rank_values(points: FloatArray) -> FloatArray:
    """Returns [n] the ranks from 1, equal values with the mean of theirs.

    As `scipy.stats.rankdata`, whose package would take a third of the time in which a command starts.
    """
    _, group, sizes = np.unique(points, return_inverse=True, return_counts=True)
    return np.asarray((sizes.cumsum() - (sizes - 1) / 2)[group], dtype=np.float64)


def _statistics(orders: FloatArray) -> FloatArray:
    """Returns [N × n − 1] U of each point of each of [N × n] orders of ranks."""
    n = orders.shape[1]
    return np.asarray(2.0 * orders.cumsum(axis=1)[:, :-1] - np.arange(1, n) * (n + 1), dtype=np.float64)


def _reaches(orders: FloatArray, largest: float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Returns [N] whether K of an order is at least as large; U is a whole number, or a multiple of one half with ties."""
    return np.asarray(np.abs(_statistics(orders)).max(axis=1) >= largest - 0.25, dtype=np.bool_)


@dataclass(frozen=True)
class _Split:
    """A test of a part of a series. parent: the test that began there or ended there; None for the first."""

    series: int
    position: int
    p: float
    parent: _Split | None

    def with_parents(self) -> Iterator[_Split]:
        split: _Split | None = self
        while split is not None:
            yield split
            split = split.parent


def find_level_changes(
    series: Sequence[Sequence[float]],
    *,
    alpha: float = ALPHA,
    margin: float = EQUIVALENCE_MARGIN,
    permutations: int = PERMUTATIONS,
    seed: int = SEED,
) -> list[list[LevelChange]]:
    """Returns the changes of the level of each series, in their order.

    Each series is tested, and divided where p is below alpha; then both parts are tested, as far as they have at least 8 values. The p
    of all these tests, of all series together, are corrected by Holm's method. A change counts if its corrected p, and that of each
    test that led to it, is below alpha, and the means before and after it differ by at least `margin` points.
    """
    splits = [
        split for number, values in enumerate(series) for split in _divide(number, values, alpha, permutations, seed)
    ]
    corrected = dict(zip(splits, correct_holm([split.p for split in splits]), strict=True))
    kept = [split for split in splits if all(corrected[tested] < alpha for tested in split.with_parents())]
    return [
        _describe(values, {split.position: corrected[split] for split in kept if split.series == number}, margin)
        for number, values in enumerate(series)
    ]


def _divide(number: int, values: Sequence[float], alpha: float, permutations: int, seed: int) -> list[_Split]:
    """Returns the tests of a series: of all of it first, then of its parts."""
    splits: list[_Split] = []
    waiting: list[tuple[int, int, _Split | None]] = [(0, len(values), None)]
    while waiting:
        start, stop, parent = waiting.pop(0)
        if stop - start < MIN_LEVEL_VALUES:
            continue
        change = pettitt_test(values[start:stop], permutations=permutations, seed=seed)
        assert change.p is not None
        split = _Split(number, start + change.position, change.p, parent)
        splits.append(split)
        if split.p < alpha:
            waiting += [(start, split.position, split), (split.position, stop, split)]
    return splits


def _describe(values: Sequence[float], p_by_position: dict[int, float], margin: float) -> list[LevelChange]:
    """Returns the changes with their levels. Those smaller than the margin are left out, the smallest first."""
    while True:
        positions = sorted(p_by_position)
        edges = [0, *positions, len(values)]
        means = [float(np.mean(values[start:stop])) for start, stop in itertools.pairwise(edges)] if positions else []
        changes = [
            LevelChange(
                position,
                before=means[index],
                after=means[index + 1],
                values_before=position - edges[index],
                values_after=edges[index + 2] - position,
                p=p_by_position[position],
            )
            for index, position in enumerate(positions)
        ]
        smallest = min(changes, key=lambda change: abs(change.difference), default=None)
        if smallest is None or abs(smallest.difference) >= margin - 10**-DECIMALS:
            return changes
        p_by_position = {position: p for position, p in p_by_position.items() if position != smallest.position}
