"""Scores that are missing or made from older ratings: made anew at once if that is little work, else in the background."""

from relevancy import evaluation, tasks
from relevancy.models import Run

from .bench import Bench

INLINE_RESCORE = 200  # scores
INLINE_SCRIPTS = 50  # of scripts, each of which may take its time


def freshen(bench: Bench, *, wake: bool) -> int:
    """Score the run shown anew under every scorer of the case; `wake`: what is much, in the background. Returns how many scores are on
    their way."""
    run = bench.run
    if run is None or run.under_way or not run.done:
        return 0
    stale = evaluation.has_stale(run, *bench.versions)
    if stale and stale <= _at_once(bench):
        evaluation.rescore_run(run)
        return 0
    if stale and wake:
        tasks.send(tasks.rescore_run, run.pk)
    return stale


def on_their_way(bench: Bench) -> int:
    """How many scores of the run shown are missing or stale; makes none."""
    run = bench.run
    return evaluation.has_stale(run, *bench.versions) if run and run.done and not run.under_way else 0


def scorers_changed(bench: Bench) -> None:
    """After the case got another scorer or version: its last runs are scored with it, the one shown at once where that is little."""
    fresh = Bench(bench.request, bench.case)
    run: Run | None = fresh.run
    if run and run.done and not run.under_way and run.done <= _at_once(fresh):
        evaluation.rescore_run(run)
    tasks.send(tasks.rescore_case, bench.case.pk)


def _at_once(bench: Bench) -> int:
    return INLINE_SCRIPTS if any(version.script for version in bench.versions) else INLINE_RESCORE
