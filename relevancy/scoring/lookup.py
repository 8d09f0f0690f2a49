"""From dictionaries and lists to arrays. This step takes most of the time of scoring large runs, hence its shape:

one C loop (`map`) per query, no Python code per document, and grades that are small whole numbers travel as bytes.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence
from itertools import chain, repeat

import numpy as np

from .arrays import BoolArray, FloatArray, IntArray
from .errors import GradeError
from .known import Known

# Stands for "unrated" among grades that travel as bytes.
_UNRATED = 255
_BYTES = np.append(np.arange(_UNRATED, dtype=np.float64), np.nan)


def known_grades(known: Sequence[Mapping[str, float]]) -> tuple[Known, bool]:
    """All grades of all queries, and whether all of them are small whole numbers."""
    counts = np.fromiter(map(len, known), dtype=np.int64, count=len(known))
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts)))
    try:
        codes = np.frombuffer(b"".join(map(_bytes, known)), dtype=np.uint8)
    except (TypeError, ValueError):
        grades = _numbers(list(chain.from_iterable(row.values() for row in known)))
        if not np.isfinite(grades).all():
            raise GradeError(f"Grades must be finite numbers, not {grades[~np.isfinite(grades)][0]:g}.") from None
        return Known(grades, offsets), False
    return Known(codes.astype(np.float64), offsets), bool((codes < _UNRATED).all())


def _bytes(row: Mapping[str, float]) -> bytes:
    """Its grades; TypeError or ValueError unless all are whole numbers below 256."""
    return bytes(row.values())  # type: ignore[arg-type]


def looked_up(rankings: Sequence[Collection[str]], known: Sequence[Mapping[str, float]], small: bool) -> FloatArray:
    """The grade of every document of every ranking, one after the other; NaN where unrated.

    A document that a ranking holds twice has its grade at the first rank only. `small`: as `known_grades` says.
    """
    found: list[float] = []
    unrated = repeat(_UNRATED if small else np.nan)
    for ranking, row in zip(rankings, known, strict=True):
        if isinstance(ranking, Mapping):
            found.extend(map(row.get, ranking, unrated))
        else:
            # Taken out of a copy when found, a grade cannot be found twice.
            found.extend(map(dict(row).pop, ranking, unrated))
    if small:
        return _BYTES[np.frombuffer(bytes(found), dtype=np.uint8)]  # type: ignore[arg-type]  # all whole, below 256
    return np.array(found, dtype=np.float64)


def lengths_of(rankings: Sequence[Collection[str]]) -> IntArray:
    """How many documents each ranking holds."""
    return np.fromiter(map(len, rankings), dtype=np.int64, count=len(rankings))


def repeats_in(rankings: Sequence[Collection[str]], width: int) -> BoolArray:
    """[rankings × width] whether a document stood at a better rank already."""
    marks = np.zeros((len(rankings), width), dtype=np.bool_)
    for row, ranking in enumerate(rankings):
        if len(set(ranking)) != len(ranking):
            seen: set[str] = set()
            for at, document in enumerate(ranking):
                marks[row, at] = document in seen
                seen.add(document)
    return marks


def spread(flat: FloatArray, lengths: IntArray) -> FloatArray:
    """[rows × longest] from rows laid end to end, NaN beyond each row's end."""
    longest = int(lengths.max(initial=0))
    if len(flat) == len(lengths) * longest:
        return flat.reshape(len(lengths), longest)
    matrix = np.full((len(lengths), longest), np.nan)
    matrix[np.arange(longest) < lengths[:, None]] = flat
    return matrix


def _numbers(values: list[float]) -> FloatArray:
    try:
        # Unlike numpy, `array` does not take text for numbers.
        return np.array(array("d", values))
    except (TypeError, OverflowError):
        wrong = [repr(value) for value in values if not isinstance(value, int | float | np.number)]
        raise GradeError(f"Grades must be numbers, not {wrong[0] if wrong else 'as large as these'}.") from None
