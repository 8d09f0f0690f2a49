"""Which installed packages scorers need."""

from collections.abc import Iterable

from relevancy import scoring
from relevancy.models import ScorerVersion


def missing_measures(versions: Iterable[ScorerVersion]) -> list[ScorerVersion]:
    """Returns the versions whose measure cannot be computed, because the package that provides it is not installed."""
    return [version for version in versions if version.measure and not _is_installed(version.measure)]


def _is_installed(measure: str) -> bool:
    try:
        scoring.parse_measure(measure)
    except scoring.MeasureError:
        return False
    return True
