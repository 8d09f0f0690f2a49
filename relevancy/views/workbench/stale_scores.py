"""Scores that are missing or older than the ratings: a few are computed in the request, many in the background."""

from collections.abc import Sequence

from relevancy import scores, tasks
from relevancy.models import Case, ScorerVersion

from .run_selection import RunSelection

MAX_INLINE_SCORES = 200
MAX_INLINE_SCRIPT_SCORES = 50  # each of which may take as long as a script is allowed to


def refresh_stale_scores(selection: RunSelection, versions: Sequence[ScorerVersion], *, enqueue: bool) -> int:
    """Computes the stale scores of the run shown if there are few, else enqueues them if `enqueue` is true.

    Returns the number of scores that are still stale.
    """
    run, stale = selection.rescorable_run, count_stale_scores(selection, versions)
    if run is None or not stale:
        return 0
    if stale <= _max_inline(versions):
        scores.rescore_run(run)
        return 0
    if enqueue:
        tasks.enqueue_run_rescore(run)
    return stale


def count_stale_scores(selection: RunSelection, versions: Sequence[ScorerVersion]) -> int:
    """Returns the number of scores of the run shown that are missing or stale."""
    run = selection.rescorable_run
    return scores.count_stale(run, *versions) if run else 0


def rescore_after_change_of_scorers(case: Case) -> None:
    """Scores the case's runs under its present scorers: the newest run at once if it is small, all in the background."""
    selection, versions = RunSelection(case), list(ScorerVersion.objects.used_by(case))
    run = selection.rescorable_run
    if run and run.done <= _max_inline(versions):
        scores.rescore_run(run)
    tasks.send(tasks.rescore_case, case.pk)


def _max_inline(versions: Sequence[ScorerVersion]) -> int:
    return MAX_INLINE_SCRIPT_SCORES if any(version.script for version in versions) else MAX_INLINE_SCORES
