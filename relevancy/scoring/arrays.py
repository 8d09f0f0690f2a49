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
