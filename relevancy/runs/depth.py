"""How many hits a run fetches: as many as are displayed, or as the deepest scorer considers."""

from __future__ import annotations

from collections.abc import Iterable

from relevancy import scores
from relevancy.models import Case, Run, ScorerVersion


def depth_of(case: Case, displayed: int) -> int:
    """Returns how many hits a run fetches per query if `displayed` results are displayed."""
    return deepest(ScorerVersion.objects.used_by(case), displayed)


def deepest(versions: Iterable[ScorerVersion], displayed: int) -> int:
    """Returns the number of hits that the deepest of these scorers considers, at least `displayed`."""
    depths = (scores.considered_depth(version, displayed) for version in versions)
    return max([displayed, *depths])


def deepen(run: Run, versions: Iterable[ScorerVersion]) -> None:
    """Lets a run fetch as many hits as these scorers consider. Does nothing once the run has started."""
    rows = deepest(versions, run.rows)
    if rows > run.rows and Run.objects.filter(pk=run.pk, started_at=None, done_before=0).update(rows=rows):
        run.rows = rows
