"""What the app adds to the core: sentences below the chart of a history, lines in it, and labels in its table."""

from collections.abc import Iterator

from relevancy import hooks
from relevancy.glossary import Term, terms
from relevancy.hooks import HistoryMark
from relevancy.models import ScorerVersion
from relevancy.scores import RunHistory
from relevancy.templatetags import numbers
from relevancy.wording import counted

from .levels import LevelHistory, find_levels
from .statistics import MIN_LEVEL_VALUES, LevelChange

terms["level"] = Term(
    "Level",
    "Where the scores of successive runs lie; a test says from which run on it changed.",
    "levels",
    "changes-of-the-level",
)

INDEPENDENCE_NOTE = (
    "The p of a level assumes that the scores of successive runs are independent. Where they resemble each other, p is too small: "
    "with an autocorrelation of .5, 19 to 43 of 100 histories without a change show one."
)


@hooks.history_marks.add
def mark_levels(history: RunHistory) -> Iterator[HistoryMark]:
    """Yields what is known about the level of each scorer, and if a change is shown, what its p takes for granted."""
    by_version = find_levels(history)
    for version in history.versions:
        yield from mark_version(version, by_version[version.pk], history.rescoring)
    if any(levels.changes for levels in by_version.values()):
        yield HistoryMark(INDEPENDENCE_NOTE)


def mark_version(version: ScorerVersion, levels: LevelHistory, rescoring: int) -> Iterator[HistoryMark]:
    """Yields a mark for each change of the level under a version, or a sentence that says why there is none.

    rescoring: how many runs are being rescored, which are not part of any level yet.
    """
    name = version.scorer.name
    lines = [(level.first, level.last, level.mean) for part in levels.series if len(part) > 1 for level in part]
    for run, change in levels.changes.items():
        label = f"level {numbers.difference(change.difference)}"
        yield HistoryMark(f"{name}: {describe_change(change, run)}", label, run, version.pk, lines)
        lines = []
    if rescoring:
        yield HistoryMark(f"{name}: runs that are being rescored are not part of a level yet.")
    elif levels.longest < MIN_LEVEL_VALUES:
        yield HistoryMark(
            f"{name}: a change of the level can be told from {MIN_LEVEL_VALUES} complete runs on; so far, {levels.longest} in a row."
        )
    elif not levels.changes:
        yield HistoryMark(f"{name}: no change of the level that {levels.runs:,} complete runs can show.")


def describe_change(change: LevelChange, run: int) -> str:
    """Returns a change in words. run: the number of the first run of the new level."""
    direction = "higher" if change.difference > 0 else "lower"
    return (
        f"from run {run} on, the level is {numbers.score(abs(change.difference))} points {direction}: "
        f"{numbers.score(change.after)} instead of {numbers.score(change.before)} "
        f"({counted(change.values_before, 'run')} before, {counted(change.values_after, 'run')} after; p {numbers.pvalue(change.p)})."
    )
