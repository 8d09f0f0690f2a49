"""Array types of this package, and operations on arrays that several measures need."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


def divide_or_zero(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Returns `numerator / denominator`, element by element; 0 where the denominator is not above 0."""
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator > 0)


def sort_descending(grades: FloatArray) -> FloatArray:
    """Returns each row of [queries × n] from best to worst; NaN and grades below 0, which have no gain, become 0."""
    return -np.sort(-np.fmax(grades, 0.0), axis=1)
