"""Schedules: when the worker runs a case or the cases of a group by itself, and whom it tells about a drop."""

from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema, Status
from pydantic import ConfigDict, Field, StrictBool

from relevancy.api.access import Id, Number, find, get_case, lockable
from relevancy.api.authentication import READ, WRITE, ApiRequest
from relevancy.api.inputs import Input
from relevancy.api.paging import Page, PageParameters, paginate
from relevancy.api.preconditions import IfMatch, check_if_match, set_etag
from relevancy.models import Role, Run, User
from relevancy.optional.groups.api import get_group

from . import group_checks, notifications, schedules
from .models import CheckRun, Schedule, ScheduledCheck
from .schedules import Scheduled

MAX_RECIPIENTS = 200
router = Router(tags=["Schedules"])


# --- what is sent, and answered ---


class Times(Schema):
    """What schedules of cases and of groups have in common: times, and who is told about a drop."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    cron: str = Field(
        min_length=1,
        max_length=100,
        examples=["0 2 * * *"],
        description="Minute, hour, day of the month, month, day of the week.",
    )
    time_zone: str = Field("UTC", max_length=64, examples=["Europe/Berlin"])
    active: StrictBool = Field(True, description="Whether runs are made.")
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


class NewSchedule(Input, Times):
    """When a case is run, and what it is compared with. What is left out has the value below, whatever it was before."""

    attempt: int | None = Field(
        None, ge=1, le=2**31 - 1, description="The number of the attempt; null: the newest at that time."
    )
    baseline_id: int | None = Field(
        None, ge=1, le=2**63 - 1, description="A complete run of the case; null: the scheduled run before."
    )


class NewGroupSchedule(Input, Times):
    """When the cases of a group are run. What is left out has the value below, whatever it was before."""

    baseline_check_id: int | None = Field(
        None, ge=1, le=2**63 - 1, description="A check of the group; null: the scheduled runs before."
    )


class StoredTimes(Times):
    """Times that are stored. next_at: null while it is switched off. author: the person in whose name runs are made."""

    author: str
    next_at: datetime | None

    @staticmethod
    def resolve_active(stored: Schedule) -> bool:
        return stored.next_at is not None

    @staticmethod
    def resolve_recipients(stored: Schedule) -> list[str]:
        return sorted(stored.recipients.values_list("email", flat=True))

    @staticmethod
    def resolve_author(stored: Schedule) -> str:
        return str(stored.author)


class ScheduleDetails(StoredTimes):
    """When a case is run, and what it is compared with."""

    attempt: int | None = Field(description="The number of the attempt; null: the newest at that time.")
    baseline_id: int | None = Field(description="A run; null: the scheduled run before.")

    @staticmethod
    def resolve_attempt(stored: Schedule) -> int | None:
        return stored.attempt.number if stored.attempt else None


class GroupScheduleDetails(StoredTimes):
    """When the cases of a group are run, and what they are compared with."""

    baseline_check_id: int | None = Field(description="A check of the group; null: the scheduled runs before.")


class WebhookKey(Schema):
    """webhook_key: of the signatures, if the address of the webhook is new; it is not shown again."""

    webhook_key: str | None = None


class SavedSchedule(ScheduleDetails, WebhookKey):
    """A schedule that was saved."""


class SavedGroupSchedule(GroupScheduleDetails, WebhookKey):
    """A schedule that was saved."""


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

    @staticmethod
    def resolve_message(check: ScheduledCheck) -> str | None:
        return None if vars(check)["is_hidden"] else check.message

    @staticmethod
    def resolve_runs(check: ScheduledCheck) -> list[CheckRun] | None:
        return None if vars(check)["is_hidden"] else list(check.runs.all())


# --- of cases ---


@router.get("/cases/{case_id}/schedule", auth=READ, response=ScheduleDetails)
def read_schedule(request: ApiRequest, response: HttpResponse, case_id: Id) -> ScheduleDetails:
    """The schedule of a case; 404 if it has none. Needs the role editor.

    The ETag can be sent as If-Match when you replace or remove it.
    """
    return _read(response, get_case(request, case_id, needs=Role.EDITOR), ScheduleDetails)


@router.put("/cases/{case_id}/schedule", auth=WRITE, response=SavedSchedule)
def save_schedule(
    request: ApiRequest, response: HttpResponse, case_id: Id, new: NewSchedule, if_match: IfMatch
) -> SavedSchedule:
    """Creates the schedule of a case, or replaces it. Runs are made in your name. The key of an unchanged webhook stays."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    complete = case.runs.filter(status=Run.Status.COMPLETE)
    schedule = _changed(case, new)
    schedule.attempt = find(
        case.attempts.select_related("endpoint__owner"), "attempt", "The case has no attempt {}.", number=new.attempt
    )
    schedule.baseline = find(
        complete, "baseline_id", "The case has no complete run with the id {}.", pk=new.baseline_id
    )
    return _save(request, response, schedule, new, if_match, ScheduleDetails, SavedSchedule)


@router.delete("/cases/{case_id}/schedule", auth=WRITE, response={204: None})
def remove_schedule(request: ApiRequest, case_id: Id, if_match: IfMatch) -> Status[None]:
    """Removes the schedule of a case. Its runs and checks stay. Repeating it changes nothing."""
    return _remove(request, get_case(request, case_id, needs=Role.EDITOR), if_match, ScheduleDetails)


@router.post("/cases/{case_id}/schedule/test", auth=WRITE, response=list[SentMessage])
def send_test_message(request: ApiRequest, case_id: Id) -> list[notifications.SentMessage]:
    """Sends a test message to the webhook of a schedule and, if it has recipients, an e-mail to you. Runs nothing."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    return notifications.send_test_messages(schedule=get_object_or_404(Schedule, case=case), by=request.user)


@router.get("/cases/{case_id}/schedule/checks", auth=READ, response=Page[CheckDetails])
def list_checks(request: ApiRequest, case_id: Id, page: Query[PageParameters]) -> dict[str, Any]:
    """What the scheduled runs of a case showed, newest first. They stay when the schedule is removed."""
    checks = ScheduledCheck.objects.filter(case=get_case(request, case_id))
    return paginate(checks.annotate(run_id=F("runs__run"), baseline_id=F("runs__baseline")), page, "-id")


# --- of groups ---


@router.get("/groups/{group_id}/schedule", auth=READ, response=GroupScheduleDetails)
def read_group_schedule(request: ApiRequest, response: HttpResponse, group_id: Id) -> GroupScheduleDetails:
    """The schedule of a group; 404 if it has none. Needs the role editor.

    The ETag can be sent as If-Match when you replace or remove it.
    """
    return _read(response, get_group(request, group_id, needs=Role.EDITOR), GroupScheduleDetails)


@router.put("/groups/{group_id}/schedule", auth=WRITE, response=SavedGroupSchedule)
def save_group_schedule(
    request: ApiRequest, response: HttpResponse, group_id: Id, new: NewGroupSchedule, if_match: IfMatch
) -> SavedGroupSchedule:
    """Creates the schedule of a group, or replaces it. Runs are made in your name: you need the role editor on all of its cases."""
    group = get_group(request, group_id, needs=Role.EDITOR)
    schedule = _changed(group, new)
    message = "The group has no finished check with a complete run and the id {}."
    schedule.baseline_check = find(
        schedules.baseline_checks(group), "baseline_check_id", message, pk=new.baseline_check_id
    )
    return _save(request, response, schedule, new, if_match, GroupScheduleDetails, SavedGroupSchedule)


@router.delete("/groups/{group_id}/schedule", auth=WRITE, response={204: None})
def remove_group_schedule(request: ApiRequest, group_id: Id, if_match: IfMatch) -> Status[None]:
    """Removes the schedule of a group. Its runs and checks stay. Repeating it changes nothing."""
    return _remove(request, get_group(request, group_id, needs=Role.EDITOR), if_match, GroupScheduleDetails)


@router.post("/groups/{group_id}/schedule/test", auth=WRITE, response=list[SentMessage])
def send_group_test_message(request: ApiRequest, group_id: Id) -> list[notifications.SentMessage]:
    """Sends a test message to the webhook of the schedule of a group and, if it has recipients, an e-mail to you. Runs nothing."""
    group = get_group(request, group_id, needs=Role.EDITOR)
    return notifications.send_test_messages(schedule=get_object_or_404(Schedule, group=group), by=request.user)


@router.get("/groups/{group_id}/schedule/checks", auth=READ, response=Page[GroupCheckDetails])
def list_group_checks(request: ApiRequest, group_id: Id, page: Query[PageParameters]) -> dict[str, Any]:
    """What the scheduled runs of a group showed, newest first. They stay when the schedule is removed."""
    checks = ScheduledCheck.objects.filter(group=get_group(request, group_id)).prefetch_related("runs")
    return paginate(group_checks.with_visibility(checks, request.user), page, "-id")


# --- of both ---


def _read[D: StoredTimes](response: HttpResponse, scheduled: Scheduled, schema: type[D]) -> D:
    stored = Schedule.objects.filter(**schedules.owned_by(scheduled)).select_related("author", "attempt")
    details = schema.from_orm(get_object_or_404(stored))
    return set_etag(response, details, state=details)


def _changed(scheduled: Scheduled, new: Times) -> Schedule:
    """Returns the schedule of a case or a group with the times that were sent; it is not stored yet."""
    schedule = schedules.find(scheduled)
    for name, value in new.model_dump(include=Times.model_fields.keys() - {"active", "recipients"}).items():
        setattr(schedule, name, value)
    return schedule


def _save[S: WebhookKey](
    request: ApiRequest,
    response: HttpResponse,
    schedule: Schedule,
    new: Times,
    if_match: str,
    schema: type[StoredTimes],
    saved_schema: type[S],
) -> S:
    """Stores a schedule. Returns it with the key of a new webhook."""
    scheduled = schedule.scheduled
    key = schedules.save(
        schedule=schedule,
        by=request.user,
        recipients=_find_recipients(schedules.possible_recipients(scheduled), new.recipients),
        is_active=new.active,
        check=lambda: _check(scheduled, if_match, schema),
    )
    saved = saved_schema.from_orm(schedule)
    saved.webhook_key = key or None
    return set_etag(response, saved, state=schema.from_orm(schedule))


def _remove(request: ApiRequest, scheduled: Scheduled, if_match: str, schema: type[StoredTimes]) -> Status[None]:
    with transaction.atomic():
        if Schedule.objects.filter(**schedules.owned_by(scheduled)).exists():
            _check(scheduled, if_match, schema)
        schedules.remove(scheduled=scheduled, by=request.user)
    return Status(204, None)


def _check(scheduled: Scheduled, if_match: str, schema: type[StoredTimes]) -> None:
    rows = lockable(Schedule.objects.select_related("author", "attempt"), lock=True)
    stored = rows.filter(**schedules.owned_by(scheduled)).first()
    check_if_match(if_match, state=schema.from_orm(stored) if stored else None)


def _find_recipients(people: QuerySet[User], addresses: list[str]) -> list[User]:
    """Returns the people with these e-mail addresses. people: who may be told. Raises `ValidationError`."""
    by_address = {user.email: user for user in people}
    addresses = [address.strip().lower() if address.isascii() else address for address in addresses]
    if strangers := [address for address in addresses if address not in by_address]:
        raise ValidationError({"recipients": f"Nobody who can see what is run has the address “{strangers[0][:60]}”."})
    return [by_address[address] for address in addresses]
