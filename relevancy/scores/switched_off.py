"""Scripts that were switched off for the rest of a run, because they were stopped for too many of its queries."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q

from relevancy.models import QueryScore, Run, ScorerVersion

from .scripts import MAX_STOPS


@dataclass(frozen=True)
class SwitchedOffScorer:
    """A script that was switched off in a run. `unscored`: the number of queries for which it was not run."""

    version: ScorerVersion
    unscored: int


def count_stops(run: Run, versions: Iterable[ScorerVersion]) -> dict[int, int]:
    """Returns for how many queries of the run each script has been stopped, at least `MAX_STOPS` for one that is switched off,
    by version id. Scripts that were never stopped are absent. One SQL statement; none without scripts."""
    rows = _count(run, versions, stopped=Count("id"), off=Count("id", filter=Q(error_kind=QueryScore.SWITCHED_OFF)))
    return {row["version"]: max(row["stopped"], MAX_STOPS if row["off"] else 0) for row in rows}


def switched_off_scorers(run: Run, versions: Iterable[ScorerVersion]) -> list[SwitchedOffScorer]:
    """Returns the scripts that were switched off in the run, in their order. One SQL statement; none without scripts."""
    versions = list(versions)
    rows = _count(run, versions, off=Count("id", filter=Q(error_kind=QueryScore.SWITCHED_OFF)))
    unscored = {row["version"]: row["off"] for row in rows}
    return [SwitchedOffScorer(version, unscored[version.pk]) for version in versions if unscored.get(version.pk)]


def switch_on(run: Run, versions: Iterable[ScorerVersion]) -> None:
    """Forgets for which queries of the run the scripts were stopped, so that they are run again."""
    scripts = [version.pk for version in versions if version.script]
    if scripts:
        QueryScore.objects.filter(run=run, version__in=scripts).exclude(error_kind="").update(error_kind="")


def _count(run: Run, versions: Iterable[ScorerVersion], **counts: Count) -> list[Any]:
    scripts = [version.pk for version in versions if version.script]
    if not scripts:
        return []
    rows = QueryScore.objects.filter(run=run, version__in=scripts).exclude(error_kind="").order_by()
    return list(rows.values("version").annotate(**counts))
