"""Single raters and pairs of raters: Cohen's kappa, the bias of each rater, and how many of the raters of a document agree.

Sources: Cohen, "A coefficient of agreement for nominal scales", 1960, and "Weighted kappa", 1968.

The intervals draw units of queries, the same for all figures. A resample without a document that a figure needs is left out of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from relevancy.statistics.agreement import RESAMPLES, Coefficient, RaterTable, build_coefficient, divide, draw_units
from relevancy.statistics.arrays import FloatArray, IntArray
from relevancy.statistics.generators import SEED

KappaWeights = Literal["none", "linear", "quadratic"]
KAPPA_WEIGHTS: tuple[KappaWeights, ...] = ("none", "linear", "quadratic")


@dataclass(frozen=True)
class PairAgreement:
    """Two raters on the items that both rated.

    a, b: numbers of the raters. size: number of grades of the scale, G.
    units: [n] number of the query of each item. cells: [n] position of the grade by `a`, times G, plus that of the grade by `b`.
    """

    a: int
    b: int
    size: int
    units: IntArray
    cells: IntArray

    @property
    def items(self) -> int:
        return len(self.cells)

    @cached_property
    def confusion(self) -> FloatArray:
        """[G × G] number of items, grades of `a` in rows."""
        counts = np.bincount(self.cells, minlength=self.size**2)
        return counts.reshape(self.size, self.size).astype(np.float64)

    @property
    def agreement(self) -> float:
        """The share of items with the same grade."""
        return float(np.trace(self.confusion)) / self.items

    def kappa(self, weights: KappaWeights = "none") -> float | None:
        """Returns Cohen's kappa, weighted by the distance of grades on the scale; None if chance alone agrees completely."""
        value = float(_kappa(self.confusion[None], weights)[0])
        return None if np.isnan(value) else value

    def estimate_kappas(self, *, resamples: int = RESAMPLES, seed: int = SEED) -> dict[KappaWeights, Coefficient]:
        """Returns Cohen's kappa with each kind of weights, with its 95 % interval by bootstrap over queries."""
        names, positions = np.unique(self.units, return_inverse=True)
        flat = np.bincount(positions * self.size**2 + self.cells, minlength=len(names) * self.size**2)
        by_unit = flat.reshape(len(names), self.size**2).astype(np.float64)
        drawn = [
            (weights @ by_unit).reshape(-1, self.size, self.size)
            for weights in (draw_units(len(names), resamples, seed) if len(names) > 1 else ())
        ]
        return {
            name: build_coefficient(_kappa(self.confusion[None], name), [_kappa(part, name) for part in drawn])
            for name in KAPPA_WEIGHTS
        }


def _kappa(confusions: FloatArray, weights: KappaWeights) -> FloatArray:
    """Returns [R] kappas of [R × G × G] numbers of items; NaN if chance alone agrees completely."""
    positions = np.arange(confusions.shape[1])
    distance = np.abs(positions[:, None] - positions[None, :]).astype(np.float64)
    penalties = {"none": (distance > 0).astype(np.float64), "linear": distance, "quadratic": distance**2}[weights]
    totals = confusions.sum(axis=(1, 2))
    margins = confusions.sum(axis=2)[:, :, None] * confusions.sum(axis=1)[:, None, :]
    chance = divide((margins * penalties).sum(axis=(1, 2)), totals)
    return 1.0 - divide((confusions * penalties).sum(axis=(1, 2)), chance)


def compare_raters(table: RaterTable) -> list[PairAgreement]:
    """Returns every pair of raters that rated an item in common, in the order of their numbers."""
    order = np.lexsort((table.raters, table.items))
    items, raters, grades = table.items[order], table.raters[order], table.grades[order]
    size = len(table.scale)
    parts: dict[tuple[int, int], list[tuple[IntArray, IntArray]]] = {}
    for step in range(1, int(table.counts.sum(axis=1).max(initial=0))):
        is_pair = items[step:] == items[:-step]
        firsts, seconds = raters[:-step][is_pair], raters[step:][is_pair]
        units = table.query_of_item[items[step:][is_pair]]
        cells = grades[:-step][is_pair] * size + grades[step:][is_pair]
        pairs = firsts * (int(raters.max()) + 1) + seconds
        by_pair = np.argsort(pairs, kind="stable")
        starts = np.flatnonzero(np.diff(pairs[by_pair], prepend=-1))
        for rows in np.split(by_pair, starts[1:]) if len(by_pair) else ():
            pair = int(firsts[rows[0]]), int(seconds[rows[0]])
            parts.setdefault(pair, []).append((units[rows], cells[rows]))
    return [
        PairAgreement(
            a, b, size, np.concatenate([part[0] for part in of_pair]), np.concatenate([part[1] for part in of_pair])
        )
        for (a, b), of_pair in sorted(parts.items())
    ]


@dataclass(frozen=True)
class RaterFigures:
    """One rater among the others.

    ratings: number of grades. grades: [G] how often each grade of the scale.
    items, queries: items that another rater rated as well, and queries (units) that they belong to.
    bias: mean over these items of the rater's grade minus the mean of the other raters' grades, in grades.
    """

    ratings: int
    grades: IntArray
    items: int
    queries: int
    bias: Coefficient


def measure_raters(table: RaterTable, *, resamples: int = RESAMPLES, seed: int = SEED) -> list[RaterFigures]:
    """Returns the figures of each rater, in the order of their numbers."""
    count, size = int(table.raters.max(initial=-1)) + 1, len(table.scale)
    grades = np.bincount(table.raters * size + table.grades, minlength=count * size).reshape(count, size)
    values = table.scale[table.grades]
    ratings, sums = np.bincount(table.items), np.bincount(table.items, values)
    is_shared = ratings[table.items] >= 2
    raters, items, own = table.raters[is_shared], table.items[is_shared], values[is_shared]
    differences = own - (sums[items] - own) / (ratings[items] - 1)
    names, units = np.unique(table.queries[is_shared], return_inverse=True)
    shape = (len(names), count)
    flat = units * count + raters
    shared = np.bincount(flat, minlength=shape[0] * count).reshape(shape).astype(np.float64)
    totals = np.bincount(flat, differences, minlength=shape[0] * count).reshape(shape)
    present = divide(totals.sum(axis=0), shared.sum(axis=0))
    drawn = [
        divide(weights @ totals, weights @ shared)
        for weights in (draw_units(len(names), resamples, seed) if len(names) > 1 else ())
    ]
    queries = (shared > 0).sum(axis=0)
    return [
        RaterFigures(
            ratings=int(grades[rater].sum()),
            grades=grades[rater],
            items=int(shared[:, rater].sum()),
            queries=int(queries[rater]),
            bias=build_coefficient(
                present[rater : rater + 1], [part[:, rater] for part in drawn] if queries[rater] > 1 else []
            ),
        )
        for rater in range(count)
    ]


@dataclass(frozen=True)
class AgreeingRaters:
    """How many items have `raters` ratings, of which `agreeing` are the same grade, the one that most raters gave."""

    raters: int
    agreeing: int
    items: int


def count_agreeing(table: RaterTable) -> list[AgreeingRaters]:
    """Returns "k of n agree" for the items with two ratings or more: by the number of ratings, then most agreeing first."""
    ratings, largest = table.counts.sum(axis=1), table.counts.max(axis=1, initial=0)
    pairs = np.stack([ratings, largest], axis=1)[ratings >= 2].astype(np.int64)
    distinct, counts = np.unique(pairs, axis=0, return_counts=True)
    rows = [AgreeingRaters(int(n), int(k), int(items)) for (n, k), items in zip(distinct, counts, strict=True)]
    return sorted(rows, key=lambda row: (row.raters, -row.agreeing))


@dataclass(frozen=True)
class QueryGrades:
    """The grades of the items of one query.

    grades: [G] how often each grade was given. items: number of items with two ratings or more.
    agreement: share of the pairs of ratings of one item that are the same grade; None without such a pair.
    """

    grades: IntArray
    items: int
    agreement: float | None


def measure_queries(table: RaterTable) -> list[QueryGrades]:
    """Returns the grades of each query, in the order of their numbers."""
    count, size = int(table.queries.max(initial=-1)) + 1, len(table.scale)
    grades = np.bincount(table.queries * size + table.grades, minlength=count * size).reshape(count, size)
    ratings = table.counts.sum(axis=1)

    def add(values: FloatArray) -> FloatArray:
        return np.bincount(table.query_of_item, values, minlength=count)

    items = add((ratings >= 2).astype(np.float64))
    shares = divide(add((table.counts * (table.counts - 1)).sum(axis=1)), add(ratings * (ratings - 1)))
    return [
        QueryGrades(own, int(shared), None if np.isnan(share) else float(share))
        for own, shared, share in zip(grades, items, shares, strict=True)
    ]
