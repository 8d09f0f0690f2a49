"""Schedules: when the worker runs a case or the cases of a group by itself, and whom it tells about a drop."""

from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema, Status
from pydantic import Field, StrictBool

from relevancy.api.access import Id, Number, get_case, lockable
from relevancy.api.authentication import READ, WRITE, ApiRequest
from relevancy.api.inputs import Input
from relevancy.api.paging import Page, PageParameters, paginate
from relevancy.api.preconditions import IfMatch, check_if_match, set_etag
from relevancy.models import Attempt, Case, Role, Run, User
from relevancy.optional.groups.api import get_group
from relevancy.optional.groups.models import CaseGroup

from . import group_schedules, notifications, schedules
from .models import Schedule, ScheduledCheck

MAX_RECIPIENTS = 200
router = Router(tags=["Schedules"])


class Times(Schema):
    """What schedules of cases and of groups have in common. next_at: null while it is switched off.

    author: the person in whose name runs are made.
    """

    cron: str = Field(examples=["0 2 * * *"])
    time_zone: str = Field(examples=["Europe/Berlin"])
    active: bool
    max_drop: float
    recipients: list[str] = Field(examples=[["ann@example.org"]])
    webhook_url: str
    author: str
    next_at: datetime | None


class ScheduleDetails(Times):
    """When a case is run, and what it is compared with."""

    attempt: int | None = Field(description="The number of the attempt; null: the newest at that time.")
    baseline_id: int | None = Field(description="A run; null: the scheduled run before.")


class WebhookKey(Schema):
    """webhook_key: of the signatures, if the address of the webhook is new; it is not shown again."""

    webhook_key: str | None


class SavedSchedule(ScheduleDetails, WebhookKey):
    """A schedule that was saved."""


class NewTimes(Input):
    """When runs are made, and who is told about a drop. What is left out has the value below, whatever it was before."""

    cron: str = Field(
        min_length=1,
        max_length=100,
        examples=["0 2 * * *"],
        description="Minute, hour, day of the month, month, day of the week.",
    )
    time_zone: str = Field("UTC", max_length=64, examples=["Europe/Berlin"])
    active: StrictBool = True
    max_drop: Number = Field(
        0.0, ge=0, le=100, description="Points. A drop is reported if it is larger, and is not noise."
    )
    recipients: list[str] = Field(
        default_factory=list,
        max_length=MAX_RECIPIENTS,
        examples=[["ann@example.org"]],
        description="E-mail addresses of people who can see the case, or the group and all of its cases.",
    )
    webhook_url: str = Field("", max_length=500, examples=["https://ci.example.org/relevancy"])


class NewSchedule(NewTimes):
    """When a case is run, and what it is compared with. What is left out has the value below, whatever it was before."""

    attempt: int | None = Field(
        None, ge=1, le=2**31 - 1, description="The number of the attempt; null: the newest at that time."
    )
    baseline_id: int | None = Field(
        None, ge=1, le=2**63 - 1, description="A complete run of the case; null: the scheduled run before."
    )


class SentMessage(Schema):
    """A test message. to: the address of the webhook, or yours. error: why it was not delivered; empty if it was."""

    to: str = Field(examples=["https://ci.example.org/relevancy"])
    error: str


class CheckDetails(Schema):
    """One time that a schedule came due. run_id, baseline_id: null if there was no run, or it was deleted."""

    id: int
    status: str = Field(examples=["passed"], description="waiting, passed, dropped or failed")
    message: str = Field(examples=["nDCG@10: 61.8, was 61.2."])
    run_id: int | None
    baseline_id: int | None
    created_at: datetime
    finished_at: datetime | None


@router.get("/cases/{case_id}/schedule", auth=READ, response=ScheduleDetails)
def read_schedule(request: ApiRequest, response: HttpResponse, case_id: Id) -> dict[str, Any]:
    """The schedule of a case; 404 if it has none. Needs the role editor.

    The ETag can be sent as If-Match when you replace or remove it.
    """
    case = get_case(request, case_id, needs=Role.EDITOR)
    details = _details(get_object_or_404(Schedule.objects.select_related("author", "attempt"), case=case))
    return set_etag(response, details, state=details)


@router.put("/cases/{case_id}/schedule", auth=WRITE, response=SavedSchedule)
def save_schedule(
    request: ApiRequest, response: HttpResponse, case_id: Id, new: NewSchedule, if_match: IfMatch
) -> dict[str, Any]:
    """Creates the schedule of a case, or replaces it. Runs are made in your name. The key of an unchanged webhook stays."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    former_url = Schedule.objects.filter(case=case).values_list("webhook_url", flat=True).first() or ""
    saved = schedules.save(
        case=case,
        by=request.user,
        attempt=_find_attempt(case, new.attempt),
        baseline=_find_baseline(case, new.baseline_id),
        recipients=find_recipients(schedules.possible_recipients(case), new.recipients),
        **times_of(new),
        check=lambda: _check(case, if_match),
    )
    details = _details(saved)
    return set_etag(response, {**details, "webhook_key": new_webhook_key(saved, former_url)}, state=details)


@router.delete("/cases/{case_id}/schedule", auth=WRITE, response={204: None})
def remove_schedule(request: ApiRequest, case_id: Id, if_match: IfMatch) -> Status[None]:
    """Removes the schedule of a case. Its runs and checks stay. Repeating it changes nothing."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    with transaction.atomic():
        if Schedule.objects.filter(case=case).exists():
            _check(case, if_match)
        schedules.remove(case=case, by=request.user)
    return Status(204, None)


@router.post("/cases/{case_id}/schedule/test", auth=WRITE, response=list[SentMessage])
def send_test_message(request: ApiRequest, case_id: Id) -> list[notifications.SentMessage]:
    """Sends a test message to the webhook of a schedule and, if it has recipients, an e-mail to you. Runs nothing."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    return notifications.send_test_messages(schedule=get_object_or_404(Schedule, case=case), by=request.user)


@router.get("/cases/{case_id}/schedule/checks", auth=READ, response=Page[CheckDetails])
def list_checks(request: ApiRequest, case_id: Id, page: Query[PageParameters]) -> dict[str, Any]:
    """What the scheduled runs of a case showed, newest first. They stay when the schedule is removed."""
    checks = ScheduledCheck.objects.filter(case=get_case(request, case_id))
    rows, following = paginate(checks, page, "-id")
    return {
        "items": [{name: getattr(row, name) for name in CheckDetails.model_fields} for row in rows],
        "next": following,
    }


def times_of(new: NewTimes) -> dict[str, Any]:
    """Returns what `schedules.save` and `group_schedules.save_for_group` both take."""
    return {
        "cron": new.cron,
        "time_zone": new.time_zone,
        "max_drop": new.max_drop,
        "webhook_url": new.webhook_url.strip(),
        "is_active": new.active,
    }


def find_recipients(people: QuerySet[User], addresses: list[str]) -> list[User]:
    """Returns the people with these e-mail addresses. people: who may be told. Raises `ValidationError`."""
    by_address = {user.email: user for user in people}
    addresses = [address.strip().lower() if address.isascii() else address for address in addresses]
    if strangers := [address for address in addresses if address not in by_address]:
        raise ValidationError({"recipients": f"Nobody who can see what is run has the address “{strangers[0][:60]}”."})
    return [by_address[address] for address in addresses]


def new_webhook_key(saved: Schedule, former_url: str) -> str | None:
    """Returns the key of the webhook of a schedule if its address is new."""
    has_new_key = bool(saved.webhook_url) and saved.webhook_url != former_url
    return saved.webhook_secret["key"] if has_new_key else None


def times_details(schedule: Schedule) -> dict[str, Any]:
    """Returns what schedules of cases and of groups have in common."""
    return {
        "cron": schedule.cron,
        "time_zone": schedule.time_zone,
        "active": schedule.next_at is not None,
        "max_drop": schedule.max_drop,
        "recipients": sorted(schedule.recipients.values_list("email", flat=True)),
        "webhook_url": schedule.webhook_url,
        "author": str(schedule.author),
        "next_at": schedule.next_at,
    }


def _check(case: Case, if_match: str) -> None:
    stored = lockable(Schedule.objects.select_related("author", "attempt"), lock=True).filter(case=case).first()
    check_if_match(if_match, state=_details(stored) if stored else None)


def _find_attempt(case: Case, number: int | None) -> Attempt | None:
    if number is None:
        return None
    attempt: Attempt | None = case.attempts.select_related("endpoint__owner").filter(number=number).first()
    if attempt is None:
        raise ValidationError({"attempt": f"The case has no attempt {number}."})
    return attempt


def _find_baseline(case: Case, run_id: int | None) -> Run | None:
    if run_id is None:
        return None
    run: Run | None = case.runs.filter(status=Run.Status.COMPLETE, pk=run_id).first()
    if run is None:
        raise ValidationError({"baseline_id": f"The case has no complete run with the id {run_id}."})
    return run


def _details(schedule: Schedule) -> dict[str, Any]:
    return {
        **times_details(schedule),
        "attempt": schedule.attempt.number if schedule.attempt else None,
        "baseline_id": schedule.baseline_id,
    }


# --- of groups ---


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
    details = _group_details(get_object_or_404(Schedule.objects.select_related("author"), group=group))
    return set_etag(response, details, state=details)


@router.put("/groups/{group_id}/schedule", auth=WRITE, response=SavedGroupSchedule)
def save_group_schedule(
    request: ApiRequest, response: HttpResponse, group_id: Id, new: NewGroupSchedule, if_match: IfMatch
) -> dict[str, Any]:
    """Creates the schedule of a group, or replaces it. Runs are made in your name: you need the role editor on all of its cases."""
    group = get_group(request, group_id, needs=Role.EDITOR)
    former_url = Schedule.objects.filter(group=group).values_list("webhook_url", flat=True).first() or ""
    saved = group_schedules.save_for_group(
        group=group,
        by=request.user,
        baseline_check=_find_check_group(group, new.baseline_check_id),
        recipients=find_recipients(group_schedules.group_recipients(group), new.recipients),
        **times_of(new),
        check=lambda: _check_group(group, if_match),
    )
    details = _group_details(saved)
    return set_etag(response, {**details, "webhook_key": new_webhook_key(saved, former_url)}, state=details)


@router.delete("/groups/{group_id}/schedule", auth=WRITE, response={204: None})
def remove_group_schedule(request: ApiRequest, group_id: Id, if_match: IfMatch) -> Status[None]:
    """Removes the schedule of a group. Its runs and checks stay. Repeating it changes nothing."""
    group = get_group(request, group_id, needs=Role.EDITOR)
    with transaction.atomic():
        if Schedule.objects.filter(group=group).exists():
            _check_group(group, if_match)
        group_schedules.remove_from_group(group=group)
    return Status(204, None)


@router.post("/groups/{group_id}/schedule/test", auth=WRITE, response=list[SentMessage])
def send_group_test_message(request: ApiRequest, group_id: Id) -> list[notifications.SentMessage]:
    """Sends a test message to the webhook of the schedule of a group and, if it has recipients, an e-mail to you. Runs nothing."""
    group = get_group(request, group_id, needs=Role.EDITOR)
    return notifications.send_test_messages(schedule=get_object_or_404(Schedule, group=group), by=request.user)


@router.get("/groups/{group_id}/schedule/checks", auth=READ, response=Page[GroupCheckDetails])
def list_group_checks(request: ApiRequest, group_id: Id, page: Query[PageParameters]) -> dict[str, Any]:
    """What the scheduled runs of a group showed, newest first. They stay when the schedule is removed."""
    of_group = ScheduledCheck.objects.filter(group=get_group(request, group_id)).prefetch_related("group_runs")
    rows, following = paginate(group_schedules.with_visibility(of_group, request.user), page, "-id")
    return {"items": [_check_details(row) for row in rows], "next": following}


def _find_check_group(group: CaseGroup, check_id: int | None) -> ScheduledCheck | None:
    if check_id is None:
        return None
    check: ScheduledCheck | None = group_schedules.baseline_checks(group).filter(pk=check_id).first()
    if check is None:
        message = f"The group has no finished check with a complete run and the id {check_id}."
        raise ValidationError({"baseline_check_id": message})
    return check


def _check_group(group: CaseGroup, if_match: str) -> None:
    stored = lockable(Schedule.objects.select_related("author"), lock=True).filter(group=group).first()
    check_if_match(if_match, state=_group_details(stored) if stored else None)


def _group_details(schedule: Schedule) -> dict[str, Any]:
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
