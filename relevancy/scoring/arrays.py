"""Array types of this package, and the one division it uses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


def ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """`part / whole`, element by element; 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


def descending(grades: FloatArray) -> FloatArray:
    """Each row of [queries × n] sorted from best to worst; NaN and grades below 0, which gain nothing, become 0."""
    return -np.sort(-np.fmax(grades, 0.0), axis=1)
