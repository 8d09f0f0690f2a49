"""What the runs of a group show: the difference of the group decides. And who sees the checks."""

from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef, QuerySet

from relevancy import comparison, scores
from relevancy.models import Case, CaseScore, ScorerVersion, User
from relevancy.optional.groups.figures import check_group_drop
from relevancy.templatetags import numbers
from relevancy.wording import counted, listed

from .models import CheckRun, Schedule, ScheduledCheck

Status = ScheduledCheck.Status
MAX_NAMED = 10  # cases that a message names
NO_RUN = "The run was not started, or was deleted."


def with_visibility(checks: QuerySet[ScheduledCheck], user: User) -> QuerySet[ScheduledCheck]:
    """Annotates `is_hidden`: whether a check of a group has a case that the user cannot see. Its message is not for this user then."""
    return checks.annotate(is_hidden=Exists(_hidden_from(user).filter(check_of=OuterRef("pk"))))


def sees_cases(check: ScheduledCheck, user: User) -> bool:
    """Whether a user can see all cases of a check."""
    return not _hidden_from(user).filter(check_of=check).exists()


def _hidden_from(user: User) -> QuerySet[CheckRun]:
    return CheckRun.objects.exclude(case__in=Case.objects.visible_to(user).values("pk"))


def examine_group(check: ScheduledCheck, schedule: Schedule | None) -> tuple[ScheduledCheck.Status, str]:
    """Returns whether all runs of a check are complete and the group has not dropped under the primary scorer, and why."""
    rows = list(check.runs.select_related("case__book", "run__attempt", "baseline__attempt"))
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
    comparisons = []
    try:
        for row in compared:
            assert row.run is not None and row.baseline is not None
            row.run.case = row.baseline.case = row.case
            comparisons.append(comparison.compare(runs=[row.baseline, row.run], version=version))
        # Of a run that searched nothing, `compare` has stored the score only now.
        stored = CaseScore.objects.newest().filter(run__check_run__in=compared, version=version)
        scored = dict(stored.values_list("run", "scored"))
        drop = check_group_drop(
            comparisons=comparisons,
            weights=[check.group.weigh(scored[pair.runs[1].pk]) for pair in comparisons],
            max_drop=schedule.max_drop if schedule else 0.0,
        )
    except ValidationError as error:
        return Status.FAILED, " ".join(error.messages)
    by_case = [
        f"{row.case} {comparison.format_difference(figures.difference)}"
        for row, figures in zip(compared, drop.group.cases, strict=True)
    ]
    message = f"{version.scorer}: {drop.describe()} By case: {listed(by_case, MAX_NAMED)}."
    if left := len(rows) - len(compared):
        message += f" {counted(left, 'case')} had no run to compare with."
    return Status.DROPPED if drop.has_dropped else Status.PASSED, message


def _find_problems(
    rows: list[CheckRun], versions: dict[int, ScorerVersion | None], schedule: Schedule | None
) -> list[str]:
    """Returns why the check fails whatever the scores are. Does not name cases that the author of the schedule cannot see."""
    problems, hidden = [], 0
    visible = set()
    if schedule is not None:
        visible = set(Case.objects.visible_to(schedule.author).values_list("pk", flat=True))
    for row in rows:
        version = versions[row.case_id]
        if row.run is None:
            reason = row.problem or NO_RUN
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


def _describe_scores(rows: list[CheckRun], version: ScorerVersion) -> str:
    newest = CaseScore.objects.newest().filter(run__in=[row.run_id for row in rows], version=version)
    stored = dict(newest.values_list("run_id", "score"))
    return f"{version.scorer}: " + listed(
        [f"{row.case} {numbers.score(stored.get(row.run_id or 0))}" for row in rows], MAX_NAMED
    )
