"""Checks of groups: each case runs its newest attempt, and the difference of the group decides."""

from __future__ import annotations

from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from relevancy import comparison, engines, runs, scores
from relevancy.models import Case, CaseScore, Run, ScorerVersion, User
from relevancy.optional.groups.drops import check_group_drop
from relevancy.optional.groups.models import CaseGroup
from relevancy.scoring.rounding import format_rounded
from relevancy.wording import counted

from .models import GroupCheckRun, Schedule, ScheduledCheck

Status = ScheduledCheck.Status
MAX_NAMED = 10  # cases that a message names


def with_visibility(checks: QuerySet[ScheduledCheck], user: User) -> QuerySet[ScheduledCheck]:
    """Annotates `is_hidden`: whether a check of a group has a case that the user cannot see. Its message is not for this user then."""
    return checks.annotate(is_hidden=Exists(_hidden_from(user).filter(check_of=OuterRef("pk"))))


def sees_cases(check: ScheduledCheck, user: User) -> bool:
    """Whether a user can see all cases of a check of a group."""
    return not _hidden_from(user).filter(check_of=check).exists()


def _hidden_from(user: User) -> QuerySet[GroupCheckRun]:
    return GroupCheckRun.objects.exclude(case__in=Case.objects.visible_to(user).values("pk"))


def start_group(schedule: Schedule) -> tuple[ScheduledCheck, list[Run]]:
    """Starts a run of the newest attempt of each case that is not archived. Returns the check and the runs.

    The check has a row for each case before the first run is started: if the worker stops meanwhile, the check fails.
    """
    assert schedule.group is not None
    cases = list(schedule.group.cases.filter(archived_at=None).order_by("name", "pk"))
    with transaction.atomic():
        check = ScheduledCheck.objects.create(group=schedule.group)
        rows = GroupCheckRun.objects.bulk_create(
            GroupCheckRun(check_of=check, case=case, baseline=_find_baseline(schedule, case)) for case in cases
        )
    started = []
    for row in rows:
        try:
            attempt = row.case.attempts.filter(archived_at=None).select_related("endpoint", "case").first()
            if attempt is None:
                raise runs.RunNotAllowed("The case has no attempt to run.")
            with transaction.atomic():
                row.run = runs.start(attempt=attempt, by=schedule.author)
                row.save(update_fields=["run"])
            started.append(row.run)
        except (runs.RunNotAllowed, engines.EngineError) as reason:
            row.run, row.problem = None, f"The run was not started. {reason}"
            row.save(update_fields=["problem"])
    return check, started


def _find_baseline(schedule: Schedule, case: Case) -> Run | None:
    """Returns the run of the chosen check, else the newest complete run of the case that the schedule of the group made."""
    earlier_runs = GroupCheckRun.objects.filter(case=case, check_of__group=schedule.group_id, run__isnull=False)
    if schedule.baseline_check_id is not None:
        earlier_runs = earlier_runs.filter(check_of=schedule.baseline_check_id)
    row = earlier_runs.filter(run__status=Run.Status.COMPLETE).select_related("run").order_by("-run__number").first()
    return row.run if row is not None else None


def is_running(check: ScheduledCheck, *, started_before: datetime) -> bool:
    """Whether a run of a check of a group has not ended, or may still be started, as it may if the check is not from before a time."""
    rows = check.group_runs.select_related("run")
    if any(row.run is not None and row.run.is_active for row in rows):
        return True
    return check.created_at > started_before and any(row.run is None and not row.problem for row in rows)


def last_end(check: ScheduledCheck) -> datetime:
    """Returns when the last run of a check of a group ended; when the check began if there is none."""
    ends = [row.run.finished_at for row in check.group_runs.select_related("run") if row.run and row.run.finished_at]
    return max(ends, default=check.created_at)


def examine_group(check: ScheduledCheck, schedule: Schedule | None) -> tuple[ScheduledCheck.Status, str]:
    """Returns whether all runs of a check are complete and the group has not dropped under the primary scorer, and why."""
    rows = list(check.group_runs.select_related("case__book", "run__attempt", "baseline__attempt"))
    if not rows:
        return Status.FAILED, "The group has no case, so there is nothing to check."
    versions = {row.case_id: ScorerVersion.objects.used_by(row.case).select_related("scorer").first() for row in rows}
    if problems := _find_problems(rows, versions, schedule):
        return Status.FAILED, " ".join(problems)
    used = {version.pk: version for version in versions.values() if version is not None}
    if len(used) > 1:
        names = ", ".join(sorted({str(version.scorer) for version in used.values()}))
        return Status.FAILED, (
            f"The cases are scored by different scorers or versions ({names}), so the group has no difference. Give them the same one."
        )
    (version,) = used.values()
    compared = [row for row in rows if row.baseline is not None]
    if not compared:
        return Status.PASSED, f"{_describe_scores(rows, version)}. These are the first runs to compare with."
    assert check.group is not None
    weighting = check.group.weighting
    try:
        drop = check_group_drop(
            comparisons=[_compare(row, version) for row in compared],
            weights=[_weight(row, version, weighting) for row in compared],
            max_drop=schedule.max_drop if schedule else 0.0,
        )
    except ValidationError as error:
        return Status.FAILED, " ".join(error.messages)
    by_case = [
        f"{row.case} {comparison.format_difference(figures.difference)}"
        for row, figures in zip(compared, drop.group.cases, strict=True)
    ]
    message = f"{version.scorer}: {drop.describe()} By case: {_shortened(by_case)}."
    if left := len(rows) - len(compared):
        message += f" {counted(left, 'case')} had no run to compare with."
    return Status.DROPPED if drop.has_dropped else Status.PASSED, message


def _find_problems(
    rows: list[GroupCheckRun], versions: dict[int, ScorerVersion | None], schedule: Schedule | None
) -> list[str]:
    """Returns why the check fails whatever the scores are. Does not name cases that the author of the schedule cannot see."""
    problems, hidden = [], 0
    visible = set()
    if schedule is not None:
        visible = set(Case.objects.visible_to(schedule.author).values_list("pk", flat=True))
    for row in rows:
        version = versions[row.case_id]
        if row.run is None:
            reason = row.problem or "The run was not started, or was deleted."
        elif version is None:
            reason = "The case has no scorer."
        else:
            row.run.case = row.case
            if row.run.done:
                scores.rescore_run(row.run, [version])
            reason = " ".join(comparison.find_run_errors(row.run, [version]))
        if not reason:
            continue
        if schedule is None or row.case_id in visible:
            problems.append(f"{row.case}: {reason}")
        else:
            hidden += 1
    if hidden and schedule is not None:
        problems.append(
            f"{counted(hidden, 'case')} could not be run: {schedule.author}, in whose name runs are made, cannot see "
            f"{'it' if hidden == 1 else 'them'}."
        )
    return problems


def _compare(row: GroupCheckRun, version: ScorerVersion) -> comparison.Comparison:
    assert row.run is not None and row.baseline is not None
    row.run.case = row.baseline.case = row.case
    return comparison.compare(runs=[row.baseline, row.run], version=version)


def _weight(row: GroupCheckRun, version: ScorerVersion, weighting: str) -> float:
    """Returns the weight of a case in the mean of the group: 1, or how many queries are scored."""
    if weighting == CaseGroup.Weighting.CASES:
        return 1.0
    return float(CaseScore.objects.get(run=row.run_id, version=version).scored)


def _describe_scores(rows: list[GroupCheckRun], version: ScorerVersion) -> str:
    stored = dict(
        CaseScore.objects.filter(run__in=[row.run_id for row in rows], version=version).values_list("run_id", "score")
    )
    return f"{version.scorer}: " + _shortened(
        [
            f"{row.case} {'–' if (score := stored.get(row.run_id or 0)) is None else format_rounded(score, 1)}"
            for row in rows
        ]
    )


def _shortened(parts: list[str]) -> str:
    more = len(parts) - MAX_NAMED
    return ", ".join(parts[:MAX_NAMED]) + (f" and {more:,} more" if more > 0 else "")
