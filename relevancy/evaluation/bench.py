"""One typed ranking through one measure."""

import math
from typing import Any

from relevancy import scoring


def try_measure(*, measure: str, grades: str, known: str = "", scale: str = "") -> dict[str, Any]:
    """Score grades typed in rank order (`-` or `–`: unrated): `{value, score, low, high}`, each a number or None.

    `known`: grades of further rated documents. `scale`: "LOWEST:HIGHEST", default 0 to the highest grade typed, at least 1.
    Raises `ScoringError` for an unknown measure, a word that is no grade, or a grade off the scale.
    """
    ranked, others = _typed(grades), [grade for grade in _typed(known) if grade is not None]
    typed = [grade for grade in ranked if grade is not None] + others
    top = max(1, math.ceil(max(typed, default=1)))
    rating_scale = scoring.Scale.parse(scale or f"0:{top}")
    for grade in typed:
        if not rating_scale.contains(grade):
            raise scoring.GradeError(f"{grade:g} is not on the scale {rating_scale.lowest:g}–{rating_scale.top:g}.")
    batch = scoring.Batch.from_grades([ranked], rating_scale, known_extra=[others])
    found = scoring.score(scoring.parse_measure(measure), batch, shown=len(ranked))
    columns = {"value": found.value, "score": found.score, "low": found.low, "high": found.high}
    return {name: None if math.isnan(column[0]) else float(column[0]) for name, column in columns.items()}


def _typed(text: str) -> list[float | None]:
    found: list[float | None] = []
    for place, word in enumerate(text.replace(",", " ").split(), 1):
        if word in {"-", "–", "·"}:
            found.append(None)
            continue
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise scoring.GradeError(f"Grade {place} is {word!r}; write a number, or - for unrated.")
        found.append(value)
    return found
