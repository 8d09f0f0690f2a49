"""Figures of single raters and of queries: bias, how many of the raters of a document agree, kappa with an interval.

The intervals draw units of queries, the same for all figures. A resample without a document that a figure needs is left out of it.
"""

from dataclasses import dataclass

import numpy as np

from relevancy.statistics.arrays import FloatArray, IntArray
from relevancy.statistics.generators import SEED

from .coefficients import RESAMPLES, Coefficient, RaterTable, build_coefficient, divide, draw_units
from .rater_pairs import KappaWeights, PairAgreement, cohen_kappa

KAPPA_WEIGHTS: tuple[KappaWeights, ...] = ("none", "linear", "quadratic")


def estimate_kappas(
    pair: PairAgreement, *, resamples: int = RESAMPLES, seed: int = SEED
) -> dict[KappaWeights, Coefficient]:
    """Returns Cohen's kappa with each kind of weights, with its 95 % interval by bootstrap over queries."""
    names, positions = np.unique(pair.units, return_inverse=True)
    flat = np.bincount(positions * pair.size**2 + pair.cells, minlength=len(names) * pair.size**2)
    by_unit = flat.reshape(len(names), pair.size**2).astype(np.float64)
    drawn = [
        (weights @ by_unit).reshape(-1, pair.size, pair.size)
        for weights in (draw_units(len(names), resamples, seed) if len(names) > 1 else ())
    ]
    return {
        name: build_coefficient(cohen_kappa(pair.confusion[None], name), [cohen_kappa(part, name) for part in drawn])
        for name in KAPPA_WEIGHTS
    }


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
