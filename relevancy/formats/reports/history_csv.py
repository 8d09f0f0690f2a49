"""The history of a case as CSV: one line for each run, newest first."""

from collections.abc import Iterator, Mapping, Sequence

from relevancy.cases.annotations import Mark
from relevancy.formats.cells import format_row
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
    """Yields the runs line by line, with the columns of each scorer under its name.

    Scores and differences have four decimals; missing values are empty. `state`: current, rescoring (its numbers are empty), old
    (a score that cannot be computed again), or empty without a score.
    """
    names = [f"{version.scorer.name} {column}" for version in history.versions for column in SCORE_COLUMNS]
    yield format_row((*RUN_COLUMNS, *names))
    for entry in reversed(history.runs):
        run = entry.run
        notes = "; ".join(mark.annotation.text for mark in notes_by_run.get(run.pk, []))
        yield format_row(
            (
                run.number,
                run.name,
                entry.attempt.number,
                entry.attempt.name,
                run.created_at.isoformat(timespec="seconds"),
                run.status,
                run.done,
                run.failed,
                notes,
                *(cell for version in history.versions for cell in _score_cells(entry, version)),
            )
        )


def _score_cells(entry: HistoryRun, version: ScorerVersion) -> Iterator[str | int | float]:
    score, step = entry.scores.get(version.pk), entry.steps.get(version.pk)
    if score is None or score.score is None:
        yield from [""] * 6
    else:
        yield from (_rounded(score.score), _rounded(score.low), _rounded(score.high))
        yield from (score.scored, score.queries, score.unrated)
    if step is None or step.difference is None:
        yield from [""] * 3
    else:
        yield from (step.baseline, _rounded(step.difference), step.compared)
    yield _state(entry, version)


def _state(entry: HistoryRun, version: ScorerVersion) -> str:
    score = entry.scores.get(version.pk)
    if score is None:
        return ""
    if score.is_being_rescored:
        return "rescoring"
    return "current" if score.is_current else "old"


def _rounded(value: float | None) -> float | str:
    # Adding zero turns −0.0 into 0.0.
    return "" if value is None else round(value, 4) + 0.0
