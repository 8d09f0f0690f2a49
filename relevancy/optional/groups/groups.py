"""Groups of cases: their mean, its history, and the newest runs against their baselines."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction

from relevancy import activity, comparison, scores
from relevancy.cases import CaseRow, case_rows, find_cases
from relevancy.models import Case, CaseScore, Run, StoredComparison, Team, User
from relevancy.models.saving import clean_and_save

from . import stored_groups
from .figures import GroupComparison, GroupFigures, describe_group
from .models import CaseGroup, StoredGroupComparison

SHARED, UNSHARED, DELETED = "group.shared", "group.unshared", "group.deleted"  # verbs of the activity log
MAX_CASES = 50  # of a group
MAX_POINTS = 60  # of the history: the newest


def create(
    *,
    name: str,
    by: User,
    weighting: str = CaseGroup.Weighting.CASES,
    teams: Iterable[Team] = (),
    cases: Collection[Case] = (),
) -> CaseGroup:
    """Creates a group that its owner and the members of the teams can see. Raises `ValidationError` for an invalid name, and for more
    cases than a group can have."""
    group = CaseGroup(name=name, owner=by, weighting=weighting)
    group.full_clean()
    if len(cases) > MAX_CASES:
        raise ValidationError({"cases": f"A group has at most {MAX_CASES} cases. Choose fewer."})
    with transaction.atomic():
        group.save()
        group.cases.set(cases)
        _share_with(group, teams, by)
    return group


def change(*, group: CaseGroup, name: str, weighting: str) -> None:
    """Changes the name of a group, and what counts the same in its mean. Raises `ValidationError`."""
    clean_and_save(group, name=name, weighting=weighting)


def set_teams(*, group: CaseGroup, teams: Collection[Team], by: User) -> None:
    """Shares a group with these teams. Teams that the user does not see stay as they are."""
    visible = Team.objects.visible_to(by)
    hidden = group.teams.exclude(pk__in=visible.values("pk"))
    with transaction.atomic():
        _share_with(group, [*teams, *hidden], by)


def _share_with(group: CaseGroup, teams: Iterable[Team], by: User) -> None:
    former, now = set(group.teams.all()), set(teams)
    group.teams.set(now)
    for verb, changed in ((SHARED, now - former), (UNSHARED, former - now)):
        activity.record_for_teams(verb, teams=changed, by=by, subject=group.name, object_id=group.pk)


def add_case(*, group: CaseGroup, case: Case) -> None:
    """Adds a case. Raises `ValidationError` if the group has the largest number of cases."""
    with transaction.atomic():
        CaseGroup.objects.select_for_update(no_key=True).get(pk=group.pk)
        if group.cases.count() >= MAX_CASES and not group.cases.filter(pk=case.pk).exists():
            raise ValidationError(f"The group has {MAX_CASES} cases, which is the maximum. Remove one first.")
        group.cases.add(case)


def remove_case(*, group: CaseGroup, case_id: int) -> None:
    """Removes a case from a group. Nothing happens to the case."""
    group.cases.remove(case_id)


def delete(*, group: CaseGroup, by: User) -> None:
    """Deletes a group. Its cases stay."""
    with transaction.atomic():
        teams, name, group_id = list(group.teams.all()), group.name, group.pk
        group.delete()
        activity.record_for_teams(DELETED, teams=teams, by=by, subject=name, object_id=group_id)


@dataclass(frozen=True)
class GroupMean:
    """The mean of the scores of a group's cases.

    score: 0–100; None if there is none, for the `reason`.
    counted: the number of cases with a score. weights: of the cases in the order of the rows, 0 for those without a score.
    """

    score: float | None
    reason: str
    counted: int
    weights: Sequence[float]


@dataclass(frozen=True)
class GroupPoint:
    """The scores of a group after a run. by_case: the newest score of each case until then, in the order of the rows."""

    run: Run
    at: datetime
    score: float | None
    by_case: Sequence[float | None]


@dataclass(frozen=True)
class GroupView:
    """A group as one user sees it.

    rows: the cases that the user can see. hidden: the number of others; 0 for those who may not know that there are any.
    """

    rows: list[CaseRow]
    hidden: int
    mean: GroupMean


def read_group(*, group: CaseGroup, by: User) -> GroupView:
    """Reads a group for a user, who sees the cases that they may see anyway, and the mean of these.

    Those who may change the group know how many others there are. The number of SQL statements does not depend on the cases.
    """
    rows = case_rows(find_cases(by).filter(groups=group).order_by("name", "pk"))
    hidden = 0
    if group.is_editable:
        hidden = group.cases.filter(archived_at=None).count() - len(rows)
    return GroupView(rows, hidden, mean_of(rows, group))


def means_of(listed: Collection[CaseGroup], by: User) -> dict[int, GroupMean]:
    """Returns the mean of each group, of the cases that the user can see, by the id of the group. The number of SQL statements does
    not depend on the groups."""
    members = CaseGroup.cases.through.objects.filter(casegroup__in=listed).values_list("casegroup", "case")
    cases_by_group: dict[int, list[int]] = defaultdict(list)
    for group_id, case_id in members.order_by("case"):
        cases_by_group[group_id].append(case_id)
    case_ids = {case_id for ids in cases_by_group.values() for case_id in ids}
    rows = {row.case.pk: row for row in case_rows(find_cases(by).filter(pk__in=case_ids))}
    return {
        group.pk: mean_of([rows[case_id] for case_id in cases_by_group[group.pk] if case_id in rows], group)
        for group in listed
    }


def mean_of(rows: Sequence[CaseRow], group: CaseGroup) -> GroupMean:
    """Returns the weighted mean of the scores of cases; cases without a score that is up to date are left out.

    There is none if the cases are scored by different scorers: their points mean different things.
    """
    is_known = [row.score and row.score.score is not None and scores.is_settled(row.score) for row in rows]
    weights = [
        group.weigh(row.score.scored) if row.score and known else 0.0 for row, known in zip(rows, is_known, strict=True)
    ]
    scored = [(row, weight) for row, weight in zip(rows, weights, strict=True) if weight]
    if not rows:
        return GroupMean(None, "The group has no cases.", 0, weights)
    if not scored:
        return GroupMean(None, "No case has a score yet.", 0, weights)
    names = sorted({str(row.version.scorer) for row, _ in scored if row.version}, key=str.casefold)
    if len({row.version.pk for row, _ in scored if row.version}) > 1:
        kinds = f"different scorers ({', '.join(names)})" if len(names) > 1 else f"different versions of {names[0]}"
        reason = f"The cases are scored by {kinds}, whose points cannot be averaged. Give them the same primary scorer."
        return GroupMean(None, reason, len(scored), weights)
    total = sum(weight * (row.score.score or 0.0) for row, weight in scored if row.score)
    return GroupMean(total / sum(weight for _, weight in scored), "", len(scored), weights)


def history_of(rows: Sequence[CaseRow], group: CaseGroup) -> list[GroupPoint]:
    """Returns the mean of the group after each run of its cases, oldest first: of the newest score of each case at that time.

    It begins when every case has a score. Scores are those of today's ratings. Two SQL statements for each case. Empty if the cases
    have different scorers.
    """
    versions = {row.version.pk: row.version for row in rows if row.version}
    if len(versions) != 1 or not rows:
        return []
    (version,) = versions.values()
    events: list[tuple[datetime, int, CaseScore, float]] = []
    for position, row in enumerate(rows):
        case_scores = [
            candidate for candidate in scores.recent_case_scores(row.case, version) if scores.is_settled(candidate)
        ]
        finished = Run.objects.filter(pk__in=[candidate.run_id for candidate in case_scores], finished_at__isnull=False)
        times = dict(finished.values_list("pk", "finished_at"))
        for candidate in case_scores:
            at = times.get(candidate.run_id)
            if at is not None and candidate.score is not None:
                events.append((at, position, candidate, candidate.score))
    latest: dict[int, tuple[float, float]] = {}
    points = []
    for at, position, case_score, score in sorted(events, key=lambda event: (event[0], event[1], event[2].run_id)):
        latest[position] = score, group.weigh(case_score.scored)
        if len(latest) == len(rows):
            total = sum(weight for _, weight in latest.values())
            mean = sum(candidate * weight for candidate, weight in latest.values()) / total
            points.append(GroupPoint(case_score.run, at, mean, [latest[number][0] for number in range(len(rows))]))
    return points[-MAX_POINTS:]


@dataclass(frozen=True)
class ComparedCase:
    """The newest run of a case against its baseline.

    stored: of which the figures have to be computed; None if there is nothing to compare. error: why there are no figures.
    figures: None as long as those of any case are being computed, and if there are none. pair: this case's own until then, once they
    are computed.
    """

    row: CaseRow
    baseline: Run | None = None
    stored: StoredComparison | None = None
    error: str = ""
    figures: GroupFigures | None = None
    pair: comparison.PairFigures | None = None

    @property
    def is_pending(self) -> bool:
        return self.stored is not None and not self.error and self.figures is None


@dataclass(frozen=True)
class ComparedGroup:
    """The newest runs of all cases against their baselines.

    to_compute: the comparisons of cases that have to be computed. stored: the comparison of the group, once they are; None if there
    is nothing to compare. figures: of the group, once they are computed as well.
    """

    cases: list[ComparedCase]
    to_compute: list[StoredComparison]
    stored: StoredGroupComparison | None = None
    figures: GroupComparison | None = None

    @property
    def is_pending(self) -> bool:
        """Whether a worker has something to compute."""
        if self.to_compute:
            return True
        return self.stored is not None and stored_groups.needs_computing(self.stored)

    @property
    def sentence(self) -> str:
        """The verdict on all cases together; empty if there is none."""
        return describe_group(self.figures) if self.figures and self.figures.together else ""

    @property
    def error(self) -> str:
        """Why the figures of the group could not be computed; empty if they could."""
        return self.stored.error if self.stored else ""


def compare_group(*, group: CaseGroup, view: GroupView) -> ComparedGroup:
    """Compares the newest scored run of each case with its baseline, under the primary scorer of the case.

    Computes nothing that a worker has to compute: see `ComparedGroup`. A few SQL statements for each case; the figures of their
    queries are not read.
    """
    compared = [_compare_case(row) for row in view.rows]
    ready = [member.stored for member in compared if member.stored and not member.error and member.stored.is_current]
    missing = [
        member.stored for member in compared if member.stored and not member.error and not member.stored.is_current
    ]
    if missing or not ready:
        return ComparedGroup(_with_pairs(compared, ready), missing)
    # Cases under different scorers have no mean, so that there is no verdict on all of them either.
    by_case = {row.case.pk: weight for row, weight in zip(view.rows, view.mean.weights, strict=True)}
    weights = [by_case[stored.case_id] if view.mean.score is not None else 0.0 for stored in ready]
    stored_group = stored_groups.find_or_create(group=group, compared=ready, weights=weights)
    if stored_group.figures is None:
        return ComparedGroup(_with_pairs(compared, ready), [], stored_group)
    group_figures = stored_groups.FIGURES.validate_python(stored_group.figures)
    by_stored = dict(zip([stored.pk for stored in ready], group_figures.cases, strict=True))
    with_figures = [
        replace(member, figures=by_stored[member.stored.pk])
        if member.stored and member.stored.pk in by_stored
        else member
        for member in compared
    ]
    return ComparedGroup(with_figures, [], stored_group, group_figures)


def _with_pairs(compared: Sequence[ComparedCase], ready: Sequence[StoredComparison]) -> list[ComparedCase]:
    """Returns the cases with the figures of those that are computed, while others or the group are not."""
    pairs = comparison.stored.load_first_pairs([stored.pk for stored in ready]) if ready else {}
    return [replace(member, pair=pairs.get(member.stored.pk)) if member.stored else member for member in compared]


def _compare_case(row: CaseRow) -> ComparedCase:
    if row.scored_run is None or row.version is None:
        return ComparedCase(row)
    run = row.scored_run
    run.case = row.case
    baseline = scores.baseline_of(run)
    if baseline is None:
        return ComparedCase(row)
    baseline.case = row.case
    stored = comparison.stored.find_or_create(runs=[baseline, run], version=row.version, with_figures=False)
    has_failed = not stored.is_current and not comparison.stored.needs_computing(stored)
    return ComparedCase(row, baseline, stored, stored.error if has_failed else "")
