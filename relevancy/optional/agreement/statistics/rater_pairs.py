"""Pairs of raters: Cohen's kappa.

Sources: Cohen, "A coefficient of agreement for nominal scales", 1960, and "Weighted kappa", 1968.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from relevancy.statistics.arrays import FloatArray, IntArray

from .coefficients import RaterTable, divide

KappaWeights = Literal["none", "linear", "quadratic"]


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
        value = float(cohen_kappa(self.confusion[None], weights)[0])
        return None if np.isnan(value) else value


def cohen_kappa(confusions: FloatArray, weights: KappaWeights) -> FloatArray:
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
            a,
            b,
            size,
            np.concatenate([part[0] for part in pair_parts]),
            np.concatenate([part[1] for part in pair_parts]),
        )
        for (a, b), pair_parts in sorted(parts.items())
    ]
