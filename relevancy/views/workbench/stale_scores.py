"""Scores that are missing or older than the ratings: a few are computed in the request, many in the background.

Scripts never run in a request: each may take as long as a script is allowed to, and the pages have few threads.
"""

from collections.abc import Iterable, Sequence

from relevancy import scores, tasks
from relevancy.models import Case, ScorerVersion

from .run_selection import RunSelection

MAX_INLINE_SCORES = 200


def refresh_stale_scores(selection: RunSelection, versions: Sequence[ScorerVersion], *, enqueue: bool) -> int:
    """Computes the stale scores of measures in the run shown if there are few. Enqueues the others if `enqueue` is true.

    Returns the number of scores that are still stale.
    """
    run, stale = selection.rescorable_run, count_stale_scores(selection, versions)
    if run is None or not stale:
        return 0
    scripts = _scripts(versions)
    stale_by_measures = count_stale_scores(selection, _measures(versions)) if scripts else stale
    if 0 < stale_by_measures <= MAX_INLINE_SCORES:
        scores.rescore_run(run, _measures(versions))
        stale -= stale_by_measures
    if stale > 0 and enqueue:
        tasks.enqueue_run_rescore(run)
    return max(0, stale)


def count_stale_scores(selection: RunSelection, versions: Sequence[ScorerVersion]) -> int:
    """Returns the number of scores of the run shown that are missing or stale."""
    run = selection.rescorable_run
    return scores.count_stale(run, *versions) if run and versions else 0


def rescore_scripts(selection: RunSelection, versions: Iterable[ScorerVersion]) -> bool:
    """Enqueues the rescoring of the run shown under the scripts among the versions, after a rating or a search. Returns whether
    any of their scores is stale."""
    run, scripts = selection.rescorable_run, _scripts(versions)
    if run is None or not scripts or not count_stale_scores(selection, scripts):
        return False
    tasks.enqueue_run_rescore(run)
    return count_stale_scores(selection, scripts) > 0


def rescore_after_change_of_scorers(case: Case) -> None:
    """Scores the case's runs under its present scorers: the newest run under its measures at once if it is small, all in the
    background."""
    selection, measures = RunSelection(case), _measures(ScorerVersion.objects.used_by(case))
    run = selection.rescorable_run
    if run and measures and run.done <= MAX_INLINE_SCORES:
        scores.rescore_run(run, measures)
    tasks.send(tasks.rescore_case, case.pk)


def _measures(versions: Iterable[ScorerVersion]) -> list[ScorerVersion]:
    return [version for version in versions if not version.script]


def _scripts(versions: Iterable[ScorerVersion]) -> list[ScorerVersion]:
    return [version for version in versions if version.script]
