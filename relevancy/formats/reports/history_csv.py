"""The history of a case as CSV: one line for each run, newest first."""

from collections.abc import Iterator, Mapping, Sequence

from relevancy.cases.annotations import Mark
from relevancy.formats.cells import Cell, rounded, write_rows
from relevancy.models import ScorerVersion
from relevancy.scores import HistoryRun, RunHistory

RUN_COLUMNS = ("run", "name", "attempt", "attempt_name", "started", "status", "searched", "failed", "annotations")
SCORE_COLUMNS = (
    "score",
    "low",
    "high",
    "scored",
    "queries",
    "unrated",
    "compared_with",
    "difference",
    "compared",
    "state",
)


def export_lines(history: RunHistory, notes_by_run: Mapping[int, Sequence[Mark]]) -> Iterator[str]:
    """Yields the runs in parts, with the columns of each scorer under its name.

    Scores and differences have four decimals; missing values are empty. `state`: current, rescoring (its numbers are empty), old
    (a score that cannot be computed again), or empty without a score.
    """
    names = [f"{version.scorer.name} {column}" for version in history.versions for column in SCORE_COLUMNS]
    rows = (
        (
            entry.run.number,
            entry.run.name,
            entry.attempt.number,
            entry.attempt.name,
            entry.run.created_at.isoformat(timespec="seconds"),
            entry.run.status,
            entry.run.done,
            entry.run.failed,
            "; ".join(mark.annotation.text for mark in notes_by_run.get(entry.run.pk, [])),
            *(cell for version in history.versions for cell in _score_cells(entry, version)),
        )
        for entry in reversed(history.runs)
    )
    return write_rows((*RUN_COLUMNS, *names), rows)


def _score_cells(entry: HistoryRun, version: ScorerVersion) -> Iterator[Cell]:
    score, step = entry.scores.get(version.pk), entry.steps.get(version.pk)
    if score is None or score.score is None:
        yield from [None] * 6
    else:
        yield from map(rounded, (score.score, score.low, score.high))
        yield from (score.scored, score.queries, score.unrated)
    if step is None or step.difference is None:
        yield from [None] * 3
    else:
        yield from (step.baseline, rounded(step.difference), step.compared)
    if score is None:
        yield None
    elif score.is_being_rescored:
        yield "rescoring"
    else:
        yield "current" if score.is_current else "old"
