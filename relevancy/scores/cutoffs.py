"""How many results a scorer considers."""

from relevancy import scoring
from relevancy.models import ScorerDefinition


def cutoff_of(definition: ScorerDefinition) -> int | None:
    """Returns the number of results a scorer considers; None if it considers as many as are displayed.

    Also None for a measure that cannot be read, such as one whose package has been uninstalled.
    """
    if definition.script:
        return definition.cutoff
    try:
        return scoring.parse_measure(definition.measure).cutoff
    except scoring.MeasureError:
        return None


def considered_depth(definition: ScorerDefinition, displayed: int) -> int:
    """Returns the number of results a scorer considers if `displayed` of them are shown."""
    return cutoff_of(definition) or displayed
