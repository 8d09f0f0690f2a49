"""Scores that are missing or older than the ratings: a few are computed in the request, many in the background.

Scripts never run in a request: each may take as long as a script is allowed to, and the pages have few threads.
"""

from collections.abc import Iterable, Sequence

from relevancy import scores, tasks
from relevancy.models import Case, Run, ScorerVersion

from .run_selection import RunSelection

MAX_INLINE_SCORES = 200


def refresh_stale_scores(selection: RunSelection, versions: Sequence[ScorerVersion], *, enqueue: bool) -> int:
    """Computes the stale scores of measures in the run shown and in its baseline if there are few, and few queries to sum. Enqueues the
    others if `enqueue` is true.

    Returns the number of scores that are still stale; 0 for a run whose stale scores a worker looks for and sums.
    """
    run = selection.rescorable_run
    if run is not None and selection.is_summed_by_worker:
        if enqueue and scores.has_outdated([(run, version) for version in versions]):
            tasks.enqueue_book_rescore(run.case.book_id)
        return 0
    stale = _stale_by_run(selection, versions)
    total = sum(count for _, count in stale)
    if not total:
        return 0
    scripts, measures = _scripts(versions), _measures(versions)
    stale_by_measures = _stale_by_run(selection, measures) if scripts else stale
    count = sum(count for _, count in stale_by_measures)
    if 0 < count <= MAX_INLINE_SCORES:
        for run, stale_scores in stale_by_measures:
            if stale_scores:
                scores.rescore_run(run, measures)
        total -= count
    if total > 0 and enqueue:
        for run, stale_scores in stale:
            if stale_scores:
                tasks.enqueue_run_rescore(run)
    return max(0, total)


def count_stale_scores(selection: RunSelection, versions: Sequence[ScorerVersion]) -> int:
    """Returns the number of scores of the run shown, and of the first of the versions in its baseline, that are missing or stale; 0 if
    a worker sums them."""
    return sum(count for _, count in _stale_by_run(selection, versions))


def sum_scores(selection: RunSelection, versions: Sequence[ScorerVersion]) -> None:
    """Stores the scores of the case in the run shown and in its baseline if ratings have changed those of its queries."""
    run, baseline = selection.rescorable_run, selection.baseline
    if run is not None:
        targets = [(run, version) for version in versions] + ([(baseline, versions[0])] if baseline else [])
        scores.sum_outdated(targets)


def _stale_by_run(selection: RunSelection, versions: Sequence[ScorerVersion]) -> list[tuple[Run, int]]:
    run, baseline = selection.rescorable_run, selection.baseline
    if run is None or not versions or selection.is_summed_by_worker:
        return []
    counts = [(run, scores.count_stale(run, *versions))]
    if baseline is not None:
        counts.append((baseline, scores.count_stale(baseline, versions[0])))
    return counts


def rescore_scripts(selection: RunSelection, versions: Iterable[ScorerVersion]) -> bool:
    """Enqueues the rescoring of the run shown under the scripts among the versions, after a rating or a search. Returns whether
    any of their scores is stale."""
    run, scripts = selection.rescorable_run, _scripts(versions)
    if run is None or not scripts or not scores.count_stale(run, *scripts):
        return False
    tasks.enqueue_run_rescore(run)
    return scores.count_stale(run, *scripts) > 0


def rescore_after_change_of_scorers(case: Case) -> None:
    """Scores the case's runs under its present scorers: the newest run under its measures at once if it is small, all in the
    background."""
    selection, measures = RunSelection(case), _measures(ScorerVersion.objects.used_by(case))
    run = selection.rescorable_run
    if run and measures and run.done <= MAX_INLINE_SCORES:
        scores.rescore_run(run, measures)
    tasks.enqueue_book_rescore(case.book_id)


def _measures(versions: Iterable[ScorerVersion]) -> list[ScorerVersion]:
    return [version for version in versions if not version.script]


def _scripts(versions: Iterable[ScorerVersion]) -> list[ScorerVersion]:
    return [version for version in versions if version.script]
