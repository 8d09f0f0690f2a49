"""Schedules of cases: when the worker runs a case by itself, and whom it tells about a drop."""

from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.shortcuts import get_object_or_404
from ninja import Router, Schema, Status
from pydantic import Field, StrictBool

from relevancy import schedules
from relevancy.models import Attempt, Case, Role, Run, Schedule, User

from .access import Id, Number, get_case
from .authentication import READ, WRITE, ApiRequest

MAX_RECIPIENTS = 200
router = Router(tags=["Schedules"])


class ScheduleDetails(Schema):
    """When a case is run. next_at: null while it is switched off. author: the person in whose name runs are made."""

    cron: str = Field(examples=["0 2 * * *"])
    time_zone: str = Field(examples=["Europe/Berlin"])
    active: bool
    attempt: int | None = Field(description="The number of the attempt; null: the newest at that time.")
    baseline_id: int | None = Field(description="A run; null: the scheduled run before.")
    max_drop: float
    recipients: list[str] = Field(examples=[["ann@example.org"]])
    webhook_url: str
    author: str
    next_at: datetime | None


class SavedSchedule(ScheduleDetails):
    """webhook_key: of the signatures, if the address of the webhook is new; it is not shown again."""

    webhook_key: str | None


class NewSchedule(Schema):
    """When a case is run, and what it is compared with. What is left out has the value below, whatever it was before."""

    cron: str = Field(
        min_length=1,
        max_length=100,
        examples=["0 2 * * *"],
        description="Minute, hour, day of the month, month, day of the week.",
    )
    time_zone: str = Field("UTC", max_length=64, examples=["Europe/Berlin"])
    active: StrictBool = True
    attempt: int | None = Field(
        None, ge=1, le=2**31 - 1, description="The number of the attempt; null: the newest at that time."
    )
    baseline_id: int | None = Field(
        None, ge=1, le=2**63 - 1, description="A complete run of the case; null: the scheduled run before."
    )
    max_drop: Number = Field(
        0.0, ge=0, le=100, description="Points. A drop is reported if it is larger, and is not noise."
    )
    recipients: list[str] = Field(
        default_factory=list,
        max_length=MAX_RECIPIENTS,
        examples=[["ann@example.org"]],
        description="E-mail addresses of people who can see the case.",
    )
    webhook_url: str = Field("", max_length=500, examples=["https://ci.example.org/relevancy"])


@router.get("/cases/{case_id}/schedule", auth=READ, response=ScheduleDetails)
def read_schedule(request: ApiRequest, case_id: Id) -> dict[str, Any]:
    """The schedule of a case; 404 if it has none. Needs the role editor."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    return _details(get_object_or_404(Schedule.objects.select_related("author", "attempt"), case=case))


@router.put("/cases/{case_id}/schedule", auth=WRITE, response=SavedSchedule)
def save_schedule(request: ApiRequest, case_id: Id, new: NewSchedule) -> dict[str, Any]:
    """Creates the schedule of a case, or replaces it. Runs are made in your name. The key of an unchanged webhook stays."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    former_url = Schedule.objects.filter(case=case).values_list("webhook_url", flat=True).first() or ""
    saved = schedules.save(
        case=case,
        by=request.user,
        cron=new.cron,
        time_zone=new.time_zone,
        attempt=_find_attempt(case, new.attempt),
        baseline=_find_baseline(case, new.baseline_id),
        max_drop=new.max_drop,
        recipients=_find_recipients(case, new.recipients),
        webhook_url=new.webhook_url.strip(),
        is_active=new.active,
    )
    has_new_key = bool(saved.webhook_url) and saved.webhook_url != former_url
    return {**_details(saved), "webhook_key": saved.webhook_secret["key"] if has_new_key else None}


@router.delete("/cases/{case_id}/schedule", auth=WRITE, response={204: None})
def remove_schedule(request: ApiRequest, case_id: Id) -> Status[None]:
    """Removes the schedule of a case. Its runs and checks stay. Repeating it changes nothing."""
    schedules.remove(case=get_case(request, case_id, needs=Role.EDITOR), by=request.user)
    return Status(204, None)


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


def _find_recipients(case: Case, addresses: list[str]) -> list[User]:
    by_address = {user.email.casefold(): user for user in schedules.possible_recipients(case)}
    if strangers := [address for address in addresses if address.strip().casefold() not in by_address]:
        raise ValidationError({"recipients": f"Nobody who can see the case has the address “{strangers[0][:60]}”."})
    return [by_address[address.strip().casefold()] for address in addresses]


def _details(schedule: Schedule) -> dict[str, Any]:
    return {
        "cron": schedule.cron,
        "time_zone": schedule.time_zone,
        "active": schedule.next_at is not None,
        "attempt": schedule.attempt.number if schedule.attempt else None,
        "baseline_id": schedule.baseline_id,
        "max_drop": schedule.max_drop,
        "recipients": sorted(schedule.recipients.values_list("email", flat=True)),
        "webhook_url": schedule.webhook_url,
        "author": str(schedule.author),
        "next_at": schedule.next_at,
    }
