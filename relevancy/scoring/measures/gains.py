"""Gain and discount, shared by CG, DCG and nDCG, and the ideal list that nDCG compares a ranking with.

Sources: Järvelin & Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 2002 (linear gain, classic
discount); Burges et al., "Learning to rank using gradient descent", ICML 2005 (2^g − 1, 1/log2(r + 1)).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from relevancy.scoring.arrays import FloatArray
from relevancy.scoring.definition import Parameter
from relevancy.scoring.slots import Slots

GAIN = Parameter(
    "gain",
    "Gain",
    "the gain of a document with grade g",
    "exp",
    (("exp", "2^g − 1: high grades count much more than low ones"), ("linear", "g: the grade itself")),
)
DISCOUNT = Parameter(
    "discount",
    "Discount",
    "how much a document at rank r counts",
    "log2",
    (
        ("log2", "1 / log2(r + 1)"),
        ("ln", "1 / ln(r + 1)"),
        ("reciprocal", "1 / r"),
        ("classic", "1 at rank 1, then 1 / log2(r)"),
    ),
)


def compute_gains(grades: FloatArray, gain: str) -> FloatArray:
    """Returns the gain of each grade, in the same shape; NaN (unrated) and grades below 0 have no gain."""
    positive: FloatArray = np.fmax(grades, 0.0)
    if gain == "linear":
        return positive
    return np.asarray(np.exp2(positive) - 1.0, dtype=np.float64)


def compute_gain(grade: float, gain: str) -> float:
    """Returns the gain of a single grade."""
    return float(compute_gains(np.array([grade]), gain)[0])


@lru_cache(maxsize=100)
def compute_discounts(discount: str, count: int) -> FloatArray:
    """Returns [count] the discounts of ranks 1 … `count`. Read-only."""
    ranks = np.arange(1.0, count + 1)
    if discount == "log2":
        divisors = np.log2(ranks + 1)
    elif discount == "ln":
        divisors = np.log(ranks + 1)
    elif discount == "reciprocal":
        divisors = ranks
    else:
        divisors = np.log2(np.maximum(ranks, 2.0))
    discounts = np.asarray(1.0 / divisors, dtype=np.float64)
    discounts.flags.writeable = False
    return discounts


def sum_discounted_gains(grades: FloatArray, gain: str, discount: str, width: int | None = None) -> FloatArray:
    """Returns [Q] Σ gain · discount of each row of [Q × n].

    Rows padded to the same `width` are summed in the same order, so that equal lists of different length give exactly
    equal sums.
    """
    products = compute_gains(grades, gain) * compute_discounts(discount, grades.shape[1])
    if width is not None and width > products.shape[1]:
        products = np.hstack((products, np.zeros((len(products), width - products.shape[1]))))
    return np.asarray(products.sum(axis=1), dtype=np.float64)


def ideal_grades(slots: Slots, ideal: str) -> FloatArray:
    """Returns [Q × n] the grades of the ideal list, descending, padded with 0; grades below 0 count as 0.

    `ideal`: 'local', 'recall', 'global' (n ≤ k) or 'uncut' (n unlimited).
    """
    source, limit = slots.grades, None if ideal in ("local", "uncut") else slots.k
    if ideal != "local":
        source = slots.all_grades if ideal == "recall" else slots.known.best(limit)
        if slots.added.shape[1]:
            source = np.hstack((source, slots.added))
        elif ideal != "recall":
            return source
    return -np.sort(-np.fmax(source, 0.0), axis=1)[:, :limit]
