"""Converts rankings of document ids and dictionaries of grades to arrays.

Scoring a large run spends most of its time here. Hence one C loop (`map`) per query, no Python code per document, and
grades that are small whole numbers are passed around as bytes.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence
from itertools import repeat

import numpy as np

from .arrays import BoolArray, FloatArray, IntArray
from .errors import GradeError
from .known_grades import KnownGrades

# Stands for "unrated" among grades that are passed as bytes.
_UNRATED = 255
_BYTE_TO_GRADE = np.append(np.arange(_UNRATED, dtype=np.float64), np.nan)


def flatten_grades(grades_by_query: Sequence[Mapping[str, float]]) -> tuple[KnownGrades, bool]:
    """Returns all grades of all queries, and whether all of them are whole numbers from 0 to 254.

    Raises `GradeError` for a grade that is not a finite number.
    """
    offsets = np.cumsum([0, *map(len, grades_by_query)], dtype=np.int64)
    try:
        # Raises unless all grades are whole numbers below 256.
        rows = [bytes(grades.values()) for grades in grades_by_query]  # type: ignore[arg-type]
        codes = np.frombuffer(b"".join(rows), dtype=np.uint8)
        return KnownGrades(codes.astype(np.float64), offsets), bool((codes < _UNRATED).all())
    except (TypeError, ValueError):
        listed = [grade for grades in grades_by_query for grade in grades.values()]
    try:
        flat = np.array(array("d", listed))  # unlike numpy, `array` does not accept strings
    except (TypeError, OverflowError):
        invalid = [repr(grade) for grade in listed if not isinstance(grade, int | float | np.number)]
        raise GradeError(f"Grades must be numbers, not {invalid[0] if invalid else 'too large for a float'}.") from None
    if not np.isfinite(flat).all():
        raise GradeError(f"Grades must be finite numbers, not {flat[~np.isfinite(flat)][0]:g}.")
    return KnownGrades(flat, offsets), False


def look_up_grades(
    rankings: Sequence[Collection[str]],
    grades_by_query: Sequence[Mapping[str, float]],
    are_bytes: bool,
    lengths: IntArray,
) -> FloatArray:
    """Returns [rankings × longest] the grades of all documents; NaN where unrated and beyond the end of a ranking.

    A document that occurs twice in a ranking has its grade at its first rank only. `are_bytes`: see `flatten_grades`. `lengths`:
    see `ranking_lengths`.
    """
    grades: list[float] = []
    unrated = repeat(_UNRATED if are_bytes else np.nan)
    for ranking, row in zip(rankings, grades_by_query, strict=True):
        if isinstance(ranking, Mapping):
            grades.extend(map(row.get, ranking, unrated))
        else:
            # Popped from a copy, a grade is found only once.
            grades.extend(map(dict(row).pop, ranking, unrated))
    if not are_bytes:
        return to_matrix(np.array(grades, dtype=np.float64), lengths)
    codes = np.frombuffer(bytes(grades), dtype=np.uint8)  # type: ignore[arg-type]  # all are whole
    return to_matrix(_BYTE_TO_GRADE[codes], lengths)


def ranking_lengths(rankings: Sequence[Collection[str]]) -> IntArray:
    """Returns [rankings] number of documents."""
    return np.array(list(map(len, rankings)), dtype=np.int64)


def find_repeats(rankings: Sequence[Collection[str]], width: int) -> BoolArray:
    """Returns [rankings × width] whether the document also occurs at a better rank."""
    repeats = np.zeros((len(rankings), width), dtype=np.bool_)
    for row, ranking in enumerate(rankings):
        if len(set(ranking)) != len(ranking):
            seen: set[str] = set()
            for index, document in enumerate(ranking):
                repeats[row, index] = document in seen
                seen.add(document)
    return repeats


def to_matrix(flat: FloatArray, lengths: IntArray) -> FloatArray:
    """Returns [rows × longest row] from rows in one flat array, padded with NaN."""
    longest = int(lengths.max(initial=0))
    if len(flat) == len(lengths) * longest:
        return flat.reshape(len(lengths), longest)
    matrix = np.full((len(lengths), longest), np.nan)
    matrix[np.arange(longest) < lengths[:, None]] = flat
    return matrix
