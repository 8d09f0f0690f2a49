"""Runs of a case whose score has the same level, and where the level changed. See docs/decisions/0089."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from relevancy.models import Run, ScorerVersion
from relevancy.scores import HistoryRun, RunHistory

from .statistics import LevelChange, find_level_changes


@dataclass(frozen=True)
class Level:
    """Runs whose score has the same level under a version.

    first, last: numbers of runs. mean: points.
    change: how it differs from the level before; None for the first one of a series.
    """

    first: int
    last: int
    mean: float
    change: LevelChange | None = None


@dataclass(frozen=True)
class LevelHistory:
    """The levels of a case under a version.

    levels: by series, oldest first. A series begins with each run whose difference to the run before is not known.
    runs: how many complete runs have a place in one. longest: how many runs the longest series has.
    """

    series: Sequence[Sequence[Level]]
    runs: int
    longest: int

    @property
    def changes(self) -> dict[int, LevelChange]:
        """The changes by the number of the first run of the new level."""
        return {level.first: level.change for levels in self.series for level in levels if level.change}


def find_levels(history: RunHistory) -> dict[int, LevelHistory]:
    """Returns where the level of the complete runs changed, by version id. The p of all versions are corrected together.

    The scores of two runs may be means over different queries. Therefore each series ends with the score of its last run, and goes
    back by the differences between a run and the one before, which are over the queries scored in both: the newest level is the
    one that the newest scores are read at.
    """
    complete = [entry for entry in history.runs if entry.run.status == Run.Status.COMPLETE]
    versions = history.versions
    series = [(version.pk, part) for version in versions for part in _chain(complete, version)]
    level_changes = find_level_changes([[value for _, value in part] for _, part in series])
    levels: dict[int, list[list[Level]]] = {version.pk: [] for version in versions}
    lengths: dict[int, list[int]] = {version.pk: [] for version in versions}
    for (version_id, part), changes in zip(series, level_changes, strict=True):
        lengths[version_id].append(len(part))
        levels[version_id].append(_divide(part, changes))
    return {
        version_id: LevelHistory(parts, sum(lengths[version_id]), max(lengths[version_id], default=0))
        for version_id, parts in levels.items()
    }


def _chain(complete: Sequence[HistoryRun], version: ScorerVersion) -> list[list[tuple[int, float]]]:
    """Returns series of run numbers and values."""
    series: list[list[tuple[int, float]]] = []
    last_scores: list[float] = []
    is_linked = False
    for entry in complete:
        score, step = entry.scores.get(version.pk), entry.steps.get(version.pk)
        if score is None or not score.is_current or score.score is None:
            is_linked = False
            continue
        if is_linked and step is not None and step.difference is not None:
            series[-1].append((entry.run.number, series[-1][-1][1] + step.difference))
        else:
            series.append([(entry.run.number, 0.0)])
            last_scores.append(0.0)
        last_scores[-1] = score.score
        is_linked = True
    return [
        [(number, last + value - part[-1][1]) for number, value in part]
        for part, last in zip(series, last_scores, strict=True)
    ]


def _divide(part: Sequence[tuple[int, float]], changes: Sequence[LevelChange]) -> list[Level]:
    edges = [0, *(change.position for change in changes), len(part)]
    return [
        Level(
            first=part[start][0],
            last=part[stop - 1][0],
            mean=sum(value for _, value in part[start:stop]) / (stop - start),
            change=change,
        )
        for (start, stop), change in zip(pairwise(edges), [None, *changes], strict=True)
    ]
