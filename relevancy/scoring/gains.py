"""Gain and discount, shared by CG, DCG and nDCG.

Järvelin & Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 2002 (linear gain; the classic
discount); Burges et al., "Learning to rank using gradient descent", ICML 2005 (2^g − 1; 1/log2(r + 1)).
"""

from __future__ import annotations

import numpy as np

from .arrays import FloatArray
from .definition import Parameter

GAIN = Parameter(
    "gain",
    "Gain",
    "what a document of grade g is worth",
    "exp",
    (("exp", "2^g − 1: high grades count much more"), ("linear", "g itself")),
)
DISCOUNT = Parameter(
    "discount",
    "Discount",
    "how much a document at rank r still counts",
    "log2",
    (
        ("log2", "1 / log2(r + 1)"),
        ("ln", "1 / ln(r + 1)"),
        ("reciprocal", "1 / r"),
        ("classic", "rank 1 in full, then 1 / log2 r"),
    ),
)


def gains(grades: FloatArray, kind: str) -> FloatArray:
    """The gain of each grade; NaN (unrated) and grades below 0 gain nothing."""
    positive: FloatArray = np.fmax(grades, 0.0)
    if kind == "linear":
        return positive
    return np.asarray(np.exp2(positive) - 1.0, dtype=np.float64)


def discounts(kind: str, count: int) -> FloatArray:
    """The discounts of ranks 1 … `count`."""
    ranks = np.arange(1.0, count + 1)
    if kind == "log2":
        divisors = np.log2(ranks + 1)
    elif kind == "ln":
        divisors = np.log(ranks + 1)
    elif kind == "reciprocal":
        divisors = ranks
    else:
        divisors = np.log2(np.maximum(ranks, 2.0))
    return np.asarray(1.0 / divisors, dtype=np.float64)


def discounted(grades: FloatArray, gain: str, discount: str, width: int | None = None) -> FloatArray:
    """Σ gain · discount of each row. Rows padded to the same `width` are summed in the same order, so that equal
    lists of different length give equal floats."""
    worth = gains(grades, gain) * discounts(discount, grades.shape[1])
    if width is not None and width > worth.shape[1]:
        worth = np.hstack((worth, np.zeros((len(worth), width - worth.shape[1]))))
    return np.asarray(worth.sum(axis=1), dtype=np.float64)
