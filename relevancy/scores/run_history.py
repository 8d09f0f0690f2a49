"""All runs of a case under several scorers: their scores, and each one's difference to the run before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise
from typing import Any

from django.db.models import OuterRef

from relevancy.models import Attempt, Case, CaseScore, Run, RunComparison, ScorerVersion, case_revision

from .definitions import missing_measures
from .former_scores import FormerScore, former_score

MAX_RUNS = 2000  # of one page: the newest
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
    former: the first known score of the same results, if it was another one.
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
    former: FormerScore | None = None


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
class RunHistory:
    """The runs of a case.

    runs: oldest first. omitted: how many older ones there are.
    """

    case: Case
    versions: Sequence[ScorerVersion]
    runs: Sequence[HistoryRun]
    omitted: int

    @property
    def rescoring(self) -> int:
        """How many runs have a score or a difference that is being computed from newer ratings."""
        return sum(entry.is_being_rescored for entry in self.runs)


def read_history(case: Case, versions: Sequence[ScorerVersion]) -> RunHistory:
    """Returns the newest 2,000 runs of a case under versions. Five SQL statements, which read sums and no scores of queries."""
    rows = Run.objects.newest_for(case).select_related("attempt").only(*_RUN_FIELDS, *_ATTEMPT_FIELDS)
    runs = list(rows[: MAX_RUNS + 1])[::-1]
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
            if not (score.is_current or is_final):
                score = HistoryScore(day=score.day, is_being_rescored=True)
            by_id[run_id].scores[version_id] = score
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
    return RunHistory(case, versions, entries, omitted)


def _read_scores(case: Case, versions: Sequence[ScorerVersion]) -> list[tuple[int, int, HistoryScore]]:
    """Returns run id, version id and the newest score of each run."""
    newest = CaseScore.objects.newest().filter(run__case=case, version__in=versions)
    columns = ("low", "high", "scored", "queries", "unrated", "day")
    rows: Any = (
        newest.with_case_revision(case)
        .with_former()
        .order_by()
        .values_list(
            "run_id", "version_id", "revision", "case_revision", "former_score", "former_at", "score", *columns
        )
    )
    return [
        (
            run_id,
            version_id,
            HistoryScore(
                score=score,
                is_current=revision is not None and revision == present,
                former=former_score(score, was, was_at),
                **dict(zip(columns, others, strict=True)),
            ),
        )
        for run_id, version_id, revision, present, was, was_at, score, *others in rows
    ]


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
