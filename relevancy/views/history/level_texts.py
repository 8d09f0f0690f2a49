"""What the history page says about changes of the level."""

from relevancy import scores
from relevancy.models import ScorerVersion
from relevancy.scores import MIN_LEVEL_RUNS
from relevancy.statistics.types import LevelChange
from relevancy.templatetags import numbers
from relevancy.wording import counted

INDEPENDENCE_NOTE = (
    "The p of a level take the scores of successive runs for independent. Where they resemble each other, p is too small: "
    "with an autocorrelation of .5, 19 to 43 of 100 histories without a change show one."
)


def describe_levels(version: ScorerVersion, levels: scores.LevelHistory, rescoring: int) -> list[str]:
    """Returns a sentence for each change of the level under a version, or one that says why there is none.

    rescoring: how many runs are being rescored, which are not part of any level yet.
    """
    name = version.scorer.name
    changes = [f"{name}: {describe_change(change, run)}" for run, change in levels.changes.items()]
    if rescoring:
        return [*changes, f"{name}: runs that are being rescored are not part of a level yet."]
    if changes:
        return changes
    if levels.longest < MIN_LEVEL_RUNS:
        return [
            f"{name}: a change of the level can be told from {MIN_LEVEL_RUNS} complete runs on; so far, {levels.longest} in a row."
        ]
    return [f"{name}: no change of the level that {levels.runs:,} complete runs can show."]


def describe_change(change: LevelChange, run: int) -> str:
    """Returns a change in words. run: the number of the first run of the new level."""
    direction = "higher" if change.difference > 0 else "lower"
    return (
        f"from run {run} on, the level is {numbers.score(abs(change.difference))} points {direction}: "
        f"{numbers.score(change.after)} instead of {numbers.score(change.before)} "
        f"({counted(change.values_before, 'run')} before, {counted(change.values_after, 'run')} after; p {numbers.pvalue(change.p)})."
    )
