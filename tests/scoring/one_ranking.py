"""One ranking of grades through one measure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from relevancy.scoring import Batch, Scale, Scores, parse_measure, score

Grades = Sequence[float | None]
SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def scores_of(
    measure: str,
    grades: Grades,
    scale: str = "0:3",
    extra: Sequence[float] = (),
    shown: int | None = None,
    zero_unscoreable: bool = False,
) -> Scores:
    """`extra`: grades of documents not returned; `shown`: as many as there are, unless given."""
    batch = Batch.from_grades([grades], Scale.parse(scale), [extra])
    return score(parse_measure(measure), batch, shown or max(1, len(grades)), zero_unscoreable)


def value_of(measure: str, grades: Grades, scale: str = "0:3", extra: Sequence[float] = (), shown: int = 0) -> float:
    return float(scores_of(measure, grades, scale, extra, shown or None).value[0])


def shared_data(*parts: str) -> Path:
    """A file of the data beside the project; skips where there is none."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"needs ../shared/data/{'/'.join(parts)}")
    return path
