"""How many more queries a difference needs before it can be proved."""

from __future__ import annotations

from relevancy.statistics import EQUIVALENCE_MARGIN, required_queries

from .comparisons import RunPair

MIN_CHANGED = 5  # queries: fewer differences do not say how far those of other queries will spread
MAX_ADDED = 5_000  # nobody adds more for one comparison


def count_queries_to_add(pair: RunPair) -> int | None:
    """Returns about how many more queries find a difference as large as this one four times in five, at least one of the margin below
    which differences do not matter. None if that is not known, if there are enough, and for more than 5,000."""
    differences = pair.paired.differences
    if differences.wins + differences.losses < MIN_CHANGED or not differences.deviation:
        return None
    needed = required_queries(differences.deviation, max(EQUIVALENCE_MARGIN, abs(differences.mean)))
    if needed is None or not len(differences) < needed <= len(differences) + MAX_ADDED:
        return None
    more = needed - len(differences)
    return more if more < 20 else -(-more // 10) * 10
