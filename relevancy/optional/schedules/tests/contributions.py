"""What the app adds to tests that cover the whole site; see tests/optional.py."""

from typing import Any

from django.utils import timezone

from relevancy.models import Case, Run, User
from relevancy.optional.schedules import notifications
from relevancy.optional.schedules.models import CheckRun, Notification, Schedule, ScheduledCheck
from relevancy.optional.schedules.tests.factories import save_schedule

# tests/views/test_access_matrix.py and tests/api/test_access_matrix.py
PAGES = """
address                method role    status
case_schedule          GET    see     200
case_schedule_save     POST   edit    302
case_schedule_remove   POST   edit    302
case_schedule_test     POST   edit    302
group_schedule         GET    see     200
group_schedule_save    POST   edit    302
group_schedule_remove  POST   edit    302
group_schedule_test    POST   edit    302
"""
OPERATIONS = """
operation          role    scope  status
read_schedule      edit    read   200
save_schedule      edit    write  200
remove_schedule    edit    write  204
send_test_message  edit    write  422
list_checks        see     read   200
read_group_schedule edit   read   200
save_group_schedule edit   write  200
remove_group_schedule edit write  204
send_group_test_message edit write 422
list_group_checks  see     read   200
"""
OPERATION_BODIES = {key: {"cron": "0 3 * * *"} for key in ("save_schedule", "save_group_schedule")}
OPERATION_PARTS = """
operation               name
save_schedule           baseline_id
save_group_schedule     baseline_check_id
"""


def accepts_what_is_signed(names: dict[str, Any]) -> None:
    """The receiver of the guide accepts what is signed here, and nothing else."""
    signed = notifications.sign("key", timezone.now(), b"{}")
    assert names["is_genuine"](signed, b"{}", "key")
    assert not names["is_genuine"](signed, b"{ }", "key")


GUIDES = {"schedules.md": accepts_what_is_signed}  # tests/test_guides.py
TIMES = {"cron": "0 2 * * *", "time_zone": "UTC"}


def make_objects(case: Case, run: Run, other: Run) -> dict[str, int]:
    """Schedules of the case and of its group, and a check of the group."""
    group = case.groups.get()
    save_schedule(case)
    save_schedule(group)
    check = ScheduledCheck.objects.create(group=group, status="passed")
    check.runs.create(case=case, run=run)
    return {"baseline_id": run.pk, "baseline_check_id": check.pk}


def bodies(world: Any) -> dict[str, dict[str, Any]]:
    """What is posted to an address, so that nothing but the missing role refuses it."""
    return {key: {**TIMES, "max_drop": "0"} for key in ("case_schedule_save", "group_schedule_save")}


def changes_of(case: Case) -> dict[str, tuple[str, dict[str, Any], dict[str, Any]]]:
    """Of objects of a case, by address: the method, and two different bodies."""
    save_schedule(case)
    group = case.groups.get()
    save_schedule(group)
    rows = ("PUT", {"cron": "0 3 * * *"}, {"cron": "0 4 * * *"})
    return {f"/cases/{case.pk}/schedule": rows, f"/groups/{group.pk}/schedule": rows}


def make_rows(case: Case, run: Run, rater: User) -> None:
    """One row of every model."""
    Schedule.objects.create(case=case, author=case.owner, webhook_secret={"key": "hunter2-secret"}, **TIMES)
    check = ScheduledCheck.objects.create(case=case, status="dropped", message="It fell.")
    CheckRun.objects.create(check_of=check, case=case, run=run)
    Notification.objects.create(check_of=check, kind="webhook")
