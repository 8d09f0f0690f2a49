"""Schedules of groups: when the worker runs the newest attempt of each case of a group, and whom it tells about a drop."""

from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema, Status
from pydantic import Field

from relevancy import schedules
from relevancy.models import CaseGroup, Role, Schedule, ScheduledCheck

from .access import Id, get_group, lockable
from .authentication import READ, WRITE, ApiRequest
from .paging import Page, PageParameters, paginate
from .preconditions import IfMatch, check_if_match, set_etag
from .schedules import (
    NewTimes,
    SentMessage,
    Times,
    WebhookKey,
    find_recipients,
    new_webhook_key,
    times_details,
    times_of,
)

router = Router(tags=["Schedules"])


class GroupScheduleDetails(Times):
    """When the cases of a group are run, and what they are compared with."""

    baseline_check_id: int | None = Field(description="A check of the group; null: the scheduled runs before.")


class SavedGroupSchedule(GroupScheduleDetails, WebhookKey):
    """A schedule that was saved."""


class NewGroupSchedule(NewTimes):
    """When the cases of a group are run. What is left out has the value below, whatever it was before."""

    baseline_check_id: int | None = Field(
        None, ge=1, le=2**63 - 1, description="A check of the group; null: the scheduled runs before."
    )


class CheckedRun(Schema):
    """A case in a check. run_id: null if the run was not started, for the `problem`, or was deleted."""

    case_id: int
    run_id: int | None
    baseline_id: int | None
    problem: str


class GroupCheckDetails(Schema):
    """One time that a schedule came due. message, runs: null if the check includes a case that you may not see."""

    id: int
    status: str = Field(examples=["passed"], description="waiting, passed, dropped or failed")
    message: str | None
    runs: list[CheckedRun] | None
    created_at: datetime
    finished_at: datetime | None


@router.get("/groups/{group_id}/schedule", auth=READ, response=GroupScheduleDetails)
def read_group_schedule(request: ApiRequest, response: HttpResponse, group_id: Id) -> dict[str, Any]:
    """The schedule of a group; 404 if it has none. Needs the role editor.

    The ETag can be sent as If-Match when you replace or remove it.
    """
    group = get_group(request, group_id, needs=Role.EDITOR)
    details = _details(get_object_or_404(Schedule.objects.select_related("author"), group=group))
    return set_etag(response, details, state=details)


@router.put("/groups/{group_id}/schedule", auth=WRITE, response=SavedGroupSchedule)
def save_group_schedule(
    request: ApiRequest, response: HttpResponse, group_id: Id, new: NewGroupSchedule, if_match: IfMatch
) -> dict[str, Any]:
    """Creates the schedule of a group, or replaces it. Runs are made in your name: you need the role editor on all of its cases."""
    group = get_group(request, group_id, needs=Role.EDITOR)
    former_url = Schedule.objects.filter(group=group).values_list("webhook_url", flat=True).first() or ""
    saved = schedules.save_for_group(
        group=group,
        by=request.user,
        baseline_check=_find_check(group, new.baseline_check_id),
        recipients=find_recipients(schedules.group_recipients(group), new.recipients),
        **times_of(new),
        check=lambda: _check(group, if_match),
    )
    details = _details(saved)
    return set_etag(response, {**details, "webhook_key": new_webhook_key(saved, former_url)}, state=details)


@router.delete("/groups/{group_id}/schedule", auth=WRITE, response={204: None})
def remove_group_schedule(request: ApiRequest, group_id: Id, if_match: IfMatch) -> Status[None]:
    """Removes the schedule of a group. Its runs and checks stay. Repeating it changes nothing."""
    group = get_group(request, group_id, needs=Role.EDITOR)
    with transaction.atomic():
        if Schedule.objects.filter(group=group).exists():
            _check(group, if_match)
        schedules.remove_from_group(group=group)
    return Status(204, None)


@router.post("/groups/{group_id}/schedule/test", auth=WRITE, response=list[SentMessage])
def send_group_test_message(request: ApiRequest, group_id: Id) -> list[schedules.SentMessage]:
    """Sends a test message to the webhook of the schedule of a group and, if it has recipients, an e-mail to you. Runs nothing."""
    group = get_group(request, group_id, needs=Role.EDITOR)
    return schedules.send_test_messages(schedule=get_object_or_404(Schedule, group=group), by=request.user)


@router.get("/groups/{group_id}/schedule/checks", auth=READ, response=Page[GroupCheckDetails])
def list_group_checks(request: ApiRequest, group_id: Id, page: Query[PageParameters]) -> dict[str, Any]:
    """What the scheduled runs of a group showed, newest first. They stay when the schedule is removed."""
    of_group = ScheduledCheck.objects.filter(group=get_group(request, group_id)).prefetch_related("group_runs")
    rows, following = paginate(schedules.with_visibility(of_group, request.user), page, "-id")
    return {"items": [_check_details(row) for row in rows], "next": following}


def _find_check(group: CaseGroup, check_id: int | None) -> ScheduledCheck | None:
    if check_id is None:
        return None
    check: ScheduledCheck | None = schedules.baseline_checks(group).filter(pk=check_id).first()
    if check is None:
        message = f"The group has no finished check with a complete run and the id {check_id}."
        raise ValidationError({"baseline_check_id": message})
    return check


def _check(group: CaseGroup, if_match: str) -> None:
    stored = lockable(Schedule.objects.select_related("author"), lock=True).filter(group=group).first()
    check_if_match(if_match, state=_details(stored) if stored else None)


def _details(schedule: Schedule) -> dict[str, Any]:
    return {**times_details(schedule), "baseline_check_id": schedule.baseline_check_id}


def _check_details(check: ScheduledCheck) -> dict[str, Any]:
    is_hidden: bool = vars(check)["is_hidden"]
    runs = [
        {"case_id": row.case_id, "run_id": row.run_id, "baseline_id": row.baseline_id, "problem": row.problem}
        for row in check.group_runs.all()
    ]
    return {
        "id": check.pk,
        "status": check.status,
        "message": None if is_hidden else check.message,
        "runs": None if is_hidden else runs,
        "created_at": check.created_at,
        "finished_at": check.finished_at,
    }
