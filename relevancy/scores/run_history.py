"""All runs of a case under several scorers: their scores, each one's difference to the run before, and where the level changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise
from typing import Any

from django.db.models import Exists, OuterRef

from relevancy.models import Attempt, Case, CaseScore, Run, RunComparison, ScorerVersion, case_revision
from relevancy.statistics import MIN_LEVEL_VALUES, LevelChange, find_level_changes

from .definitions import missing_measures

MAX_RUNS = 2000  # of one page: the newest
MIN_LEVEL_RUNS = MIN_LEVEL_VALUES
_RUN_FIELDS = (
    "case",
    "number",
    "status",
    "name",
    "queries",
    "done",
    "failed",
    "created_at",
    "finished_at",
    "pinned_at",
    "fields_dropped_at",
)
_ATTEMPT_FIELDS = ("attempt__number", "attempt__name", "attempt__archived_at")


@dataclass(frozen=True, slots=True)
class HistoryScore:
    """The score of a run under a version.

    score, low, high: points; None if it is not scoreable, or while it is being rescored.
    scored, queries, unrated: numbers of queries, and of documents; 0 while it is being rescored.
    day: when it was last computed.
    is_current: whether it was made with the present ratings.
    is_being_rescored: whether it was not, and will be.
    """

    score: float | None = None
    low: float | None = None
    high: float | None = None
    scored: int = 0
    queries: int = 0
    unrated: int = 0
    day: date | None = None
    is_current: bool = False
    is_being_rescored: bool = False


@dataclass(frozen=True, slots=True)
class RunStep:
    """The difference between a complete run and the complete run before it, by the law of `scores.comparison`.

    baseline: number of the run before.
    difference: points, over the queries scored in both; None if there are none, or while it is being computed.
    compared: the number of these queries. others: how many are scored in only one of the runs.
    """

    baseline: int
    difference: float | None = None
    compared: int = 0
    others: int = 0
    is_being_rescored: bool = False


@dataclass(frozen=True, slots=True)
class HistoryRun:
    """A run with its scores and differences by version id; those that do not exist are absent."""

    run: Run
    scores: dict[int, HistoryScore] = field(default_factory=dict)
    steps: dict[int, RunStep] = field(default_factory=dict)

    @property
    def run_id(self) -> int:
        return int(self.run.pk)

    @property
    def attempt(self) -> Attempt:
        return self.run.attempt

    @property
    def is_being_rescored(self) -> bool:
        """Whether a score or a difference is being computed from newer ratings."""
        steps = any(step.is_being_rescored for step in self.steps.values())
        return steps or any(score.is_being_rescored for score in self.scores.values())


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


@dataclass(frozen=True)
class RunHistory:
    """The runs of a case.

    runs: oldest first. omitted: how many older ones there are.
    levels: by version id.
    """

    case: Case
    versions: Sequence[ScorerVersion]
    runs: Sequence[HistoryRun]
    omitted: int
    levels: Mapping[int, LevelHistory]

    @property
    def rescoring(self) -> int:
        """How many runs have a score or a difference that is being computed from newer ratings."""
        return sum(entry.is_being_rescored for entry in self.runs)


def read_history(case: Case, versions: Sequence[ScorerVersion]) -> RunHistory:
    """Returns the newest 2,000 runs of a case under versions. Five SQL statements, which read sums and no scores of queries."""
    runs = _read_runs(case)
    omitted = 0
    if len(runs) > MAX_RUNS:
        omitted = Run.objects.filter(case=case).count() - MAX_RUNS
        runs = runs[-MAX_RUNS:]
    missing = {version.pk for version in missing_measures(versions)}
    scripts = {version.pk for version in versions if version.script}
    entries = [HistoryRun(run) for run in runs]
    by_id = {entry.run_id: entry for entry in entries}
    for run_id, version_id, score in _read_scores(case, versions):
        if run_id in by_id:
            is_final = version_id in missing or (version_id in scripts and by_id[run_id].run.fields_dropped_at)
            by_id[run_id].scores[version_id] = _shown(score, is_final=bool(is_final))
    for entry in entries:
        for version in versions:
            is_final = version.pk in missing or bool(version.script and entry.run.fields_dropped_at)
            if version.pk not in entry.scores and entry.run.done and not entry.run.is_active and not is_final:
                entry.scores[version.pk] = HistoryScore(is_being_rescored=True)
    complete = [entry for entry in entries if entry.run.status == Run.Status.COMPLETE]
    stored = _read_steps(case, versions)
    for before, entry in pairwise(complete):
        for version in versions:
            key = (entry.run_id, before.run_id, version.pk)
            is_lost = version.script and (entry.run.fields_dropped_at or before.run.fields_dropped_at)
            if key in stored:
                entry.steps[version.pk] = RunStep(before.run.number, *stored[key])
            elif version.pk not in missing and not is_lost:
                entry.steps[version.pk] = RunStep(before.run.number, is_being_rescored=True)
    return RunHistory(case, versions, entries, omitted, find_levels(complete, versions))


def _read_runs(case: Case) -> list[Run]:
    """Returns the newest runs, oldest first; one more than are shown if there are more."""
    rows = Run.objects.newest_for(case).select_related("attempt").only(*_RUN_FIELDS, *_ATTEMPT_FIELDS)
    return list(rows[: MAX_RUNS + 1])[::-1]


def _read_scores(case: Case, versions: Sequence[ScorerVersion]) -> list[tuple[int, int, HistoryScore]]:
    """Returns run id, version id and the newest score of each run."""
    later = CaseScore.objects.filter(run=OuterRef("run"), version=OuterRef("version"), day__gt=OuterRef("day"))
    newest = CaseScore.objects.filter(run__case=case, version__in=versions).exclude(Exists(later))
    columns = ("score", "low", "high", "scored", "queries", "unrated", "day")
    rows: Any = (
        newest.with_case_revision(case)
        .order_by()
        .values_list("run_id", "version_id", "revision", "case_revision", *columns)
    )
    return [
        (
            run_id,
            version_id,
            HistoryScore(score, low, high, scored, queries, unrated, day, revision is not None and revision == present),
        )
        for run_id, version_id, revision, present, score, low, high, scored, queries, unrated, day in rows
    ]


def _shown(score: HistoryScore, *, is_final: bool) -> HistoryScore:
    """Returns a score without its numbers if it is being rescored. is_final: whether it cannot be computed again."""
    if score.is_current or is_final:
        return score
    return HistoryScore(day=score.day, is_being_rescored=True)


def _read_steps(case: Case, versions: Sequence[ScorerVersion]) -> dict[tuple[int, int, int], tuple[Any, ...]]:
    """Returns the stored differences that are up to date, by run, baseline and version: difference, compared, others."""
    rows = RunComparison.objects.filter(
        run__case=case, version__in=versions, revision=case_revision(OuterRef("run__case"))
    ).values_list(
        "run_id",
        "baseline_id",
        "version_id",
        "run_score",
        "baseline_score",
        "compared",
        "newly_scored",
        "no_longer_scored",
    )
    return {
        (run_id, baseline_id, version_id): (
            None if score is None or before is None else score - before,
            compared,
            newly + no_longer,
        )
        for run_id, baseline_id, version_id, score, before, compared, newly, no_longer in rows
    }


def find_levels(complete: Sequence[HistoryRun], versions: Sequence[ScorerVersion]) -> dict[int, LevelHistory]:
    """Returns where the level of the complete runs changed, by version id. The p of all versions are corrected together.

    The scores of two runs may be means over different queries. Therefore each series ends with the score of its last run, and goes
    back by the differences between a run and the one before, which are over the queries scored in both: the newest level is the
    one that the newest scores are read at.
    """
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
