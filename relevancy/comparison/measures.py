"""The measures of scorers, for what is computed beyond their scores."""

from __future__ import annotations

from relevancy import scoring
from relevancy.models import ScorerVersion

WITHOUT_EXACT_RANGE = {"AvgEdit"}  # measures whose range is an estimate


def read_measure(version: ScorerVersion) -> scoring.Measure | None:
    """Returns the measure; None for scripts, and for measures of a package that is not installed."""
    if version.script:
        return None
    try:
        return scoring.parse_measure(version.measure)
    except scoring.MeasureError:
        return None


def read_exact_measure(version: ScorerVersion) -> scoring.Measure | None:
    """Returns the measure as `read_measure` does; None as well if the ranges of its scores are estimates."""
    measure = read_measure(version)
    return None if measure is None or measure.name in WITHOUT_EXACT_RANGE else measure
