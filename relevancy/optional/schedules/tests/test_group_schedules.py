"""Schedules of groups: what they start, when they pass, and who learns what."""

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.exceptions import ValidationError
from django.utils import timezone

from relevancy import cases, comparison, engines, runs, tasks
from relevancy.models import Role, Run, ScorerVersion, User
from relevancy.optional.groups import groups
from relevancy.optional.groups.figures import check_group_drop
from relevancy.optional.groups.models import CaseGroup
from relevancy.optional.schedules import checks, group_checks, schedules, starting
from relevancy.optional.schedules.models import CheckRun, Schedule, ScheduledCheck
from relevancy.optional.schedules.notifications import payload
from relevancy.optional.schedules.tests.factories import save_schedule
from tests.factories import make_attempt, make_case, make_team, make_user, script_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
GOOD, BAD = ["a", "b", "c"], ["x", "y", "z"]
QUERIES = 12


@pytest.fixture
def owner() -> User:
    return make_user("Owner")


@pytest.fixture
def group(owner: User) -> CaseGroup:
    """Two cases of twelve queries each, on books of their own; both return the relevant document first."""
    group = groups.create(name="Markets", by=owner)
    for _ in range(2):
        ratings = {f"query {number}": {"a": 3, "x": 0} for number in range(1, QUERIES + 1)}
        case = make_case(QUERIES, ratings, owner=owner)
        script_of(make_attempt(case)).default = GOOD
        groups.add_case(group=group, case=case)
    return group


def run_due(group: CaseGroup) -> ScheduledCheck:
    """What the worker does when the schedule is due; the newest check."""
    assert Schedule.objects.filter(group=group).update(next_at=timezone.now() - timedelta(days=3))
    tasks.sweep()
    return group.scheduled_checks.first()


def answer(group: CaseGroup, position: int, documents: list[str]) -> None:
    case = group.cases.order_by("pk")[position]
    script_of(case.attempts.first()).default = documents


def test_each_case_runs_once_and_the_next_runs_are_compared_with_these(group: CaseGroup) -> None:
    save_schedule(group)
    first = run_due(group)
    assert (first.status, first.case, Run.objects.count()) == ("passed", None, 2)
    assert "These are the first runs to compare with." in first.message
    second = run_due(group)
    assert second.status == "passed"
    assert "0.0 points" in second.message and "24 queries of 2 cases" in second.message
    baselines = {row.case_id: row.baseline_id for row in second.runs.all()}
    assert baselines == {row.case_id: row.run_id for row in first.runs.all()}
    assert Schedule.objects.get().next_at > timezone.now()


def test_the_difference_of_the_group_decides(group: CaseGroup) -> None:
    save_schedule(group)
    run_due(group)
    answer(group, 0, BAD)
    check = run_due(group)
    assert check.status == "dropped"
    assert "a drop of more than 0 points that is not noise" in check.message
    # The same figures as those of the arithmetic: the mean of both cases' differences, over all queries.
    compared = []
    for row in check.runs.order_by("case_id"):
        row.run.case = row.baseline.case = row.case
        version = ScorerVersion.objects.used_by(row.case).first()
        compared.append(comparison.compare(runs=[row.baseline, row.run], version=version))
    by_case = [item.pairs[0].difference for item in compared]
    assert by_case[1] == 0
    drop = check_group_drop(comparisons=compared, weights=[1.0, 1.0])
    assert drop.difference == pytest.approx(by_case[0] / 2)
    assert drop.interval.high < 0
    assert drop.describe() in check.message


def test_a_drop_within_what_is_allowed_passes(group: CaseGroup) -> None:
    save_schedule(group, max_drop=60)
    run_due(group)
    answer(group, 0, BAD)
    assert run_due(group).status == "passed"


def test_a_fixed_check_shows_a_slow_decline(group: CaseGroup) -> None:
    save_schedule(group)
    first = run_due(group)
    answer(group, 0, BAD)
    run_due(group)
    assert run_due(group).status == "passed"  # no worse than the runs before
    save_schedule(group, baseline_check=first)
    assert run_due(group).status == "dropped"


def test_one_incomplete_run_fails_the_check(group: CaseGroup) -> None:
    save_schedule(group)
    case = group.cases.order_by("pk")[1]
    script_of(case.attempts.first()).answers["query 3"] = engines.EngineError("The index is closed.")
    check = run_due(group)
    assert check.status == "failed"
    assert check.message.startswith(f"{case}: Run 1 is incomplete")


@pytest.mark.parametrize("weighting", CaseGroup.Weighting)
def test_a_run_whose_queries_were_removed_meanwhile_ends_the_check(group: CaseGroup, weighting: str) -> None:
    CaseGroup.objects.update(weighting=weighting)
    save_schedule(group)
    run_due(group)
    check = run_due(group)
    run = check.runs.order_by("case")[0].run
    run.case.case_queries.update(removed_at=timezone.now())
    run.rankings.all().delete()
    run.case_scores.all().delete()
    Run.objects.filter(pk=run.pk).update(done=0, queries=0)
    status, message = group_checks.examine_group(check, Schedule.objects.get())
    assert status == "passed"
    assert "12 queries of 1 case" in message
    assert f"{run.case} –" in message


def test_cases_of_other_scorers_have_no_difference(group: CaseGroup, owner: User) -> None:
    other = make_case(2, {"query 1": {"a": 3}}, owner=owner, measures=("P@1",))
    make_attempt(other)
    groups.add_case(group=group, case=other)
    save_schedule(group)
    check = run_due(group)
    assert check.status == "failed"
    assert "different scorers" in check.message and "P@1" in check.message


def test_a_case_that_the_author_may_not_run_fails_without_its_name(group: CaseGroup) -> None:
    editor = make_user("Editor")
    team = make_team("Search", Editor=Role.EDITOR)
    group.teams.add(team)
    with pytest.raises(ValidationError, match="not an editor of 2 cases"):
        save_schedule(group, by=editor)
    for case in group.cases.all():
        cases.share(case=case, team=team)
    save_schedule(group, by=editor)
    hidden = group.cases.order_by("pk")[0]
    hidden.teams.clear()
    check = run_due(group)
    assert check.status == "failed"
    assert "1 case could not be run: Editor" in check.message
    assert str(hidden) not in check.message


def test_a_worker_that_stopped_while_it_started_runs_fails_the_check(group: CaseGroup) -> None:
    save_schedule(group)
    check = ScheduledCheck.objects.create(group=group)
    CheckRun.objects.bulk_create(CheckRun(check_of=check, case=case) for case in group.cases.all())
    checks.finish_abandoned()
    check.refresh_from_db()
    assert check.status == "waiting"
    ScheduledCheck.objects.update(created_at=timezone.now() - timedelta(minutes=2))
    checks.finish_abandoned()
    check.refresh_from_db()
    assert check.status == "failed"
    assert "was not started" in check.message


def test_a_check_waits_for_its_last_run(group: CaseGroup) -> None:
    save_schedule(group)
    Schedule.objects.update(next_at=timezone.now() - timedelta(hours=1))
    first, second = starting.start_due()
    tasks.enqueue_run(first)
    assert ScheduledCheck.objects.get().status == "waiting"
    tasks.enqueue_run(second)
    assert ScheduledCheck.objects.get().status == "passed"


def test_people_who_do_not_see_all_cases_get_no_message(
    group: CaseGroup, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("django.core.mail.message.DNS_NAME", "localhost")  # tests resolve no names
    settings.MAIL_HOST, settings.SITE_URL = "mail.example.com", "https://relevancy.example.com"
    team = make_team("Search", Ada=Role.VIEWER)
    ada = User.objects.get(name="Ada")
    group.teams.add(team)
    with pytest.raises(ValidationError, match="Not everyone can see the group"):
        save_schedule(group, recipients=[ada])
    for case in group.cases.all():
        cases.share(case=case, team=team)
    assert set(schedules.possible_recipients(group)) == {ada, group.owner}
    save_schedule(group, recipients=[ada])
    run_due(group)
    answer(group, 0, BAD)
    check = run_due(group)
    tasks.sweep()
    [sent] = mail.outbox
    assert (sent.to, sent.subject) == (["ada@example.com"], "Markets: scheduled check dropped")
    assert f"https://relevancy.example.com/groups/{group.pk}/schedule/" in sent.body
    assert payload(check.notifications.get())["group"]["name"] == "Markets"
    checks = ScheduledCheck.objects.filter(pk=check.pk)
    assert not group_checks.with_visibility(checks, ada).get().is_hidden
    group.cases.order_by("pk")[1].teams.clear()
    assert group_checks.with_visibility(checks, ada).get().is_hidden
    run_due(group)
    answer(group, 1, BAD)
    failed = run_due(group)
    tasks.sweep()
    assert failed.notifications.get().error == "The recipient can no longer see the group and all of its cases."


def test_removing_keeps_the_checks_and_empty_groups_have_no_schedule(group: CaseGroup, owner: User) -> None:
    save_schedule(group)
    run_due(group)
    schedules.remove(scheduled=group)
    assert not Schedule.objects.exists()
    assert group.scheduled_checks.count() == 1
    with pytest.raises(ValidationError, match="no case yet"):
        save_schedule(groups.create(name="Empty", by=owner))


def test_the_newest_attempt_is_not_that_of_imported_rankings(group: CaseGroup) -> None:
    case = group.cases.first()
    imported = runs.ImportedRankings(name="elsewhere", note="", fields="id:id", hits={})
    runs.import_rankings(case=case, rankings=[imported], by=case.owner)
    save_schedule(group)
    assert run_due(group).status == "passed"
