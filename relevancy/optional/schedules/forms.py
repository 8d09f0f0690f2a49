"""The forms for the schedules of cases and groups."""

from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.db.models import QuerySet
from django.utils.formats import date_format
from django.utils.timezone import localtime

from relevancy.models import Attempt, Case, Run, User
from relevancy.optional.groups.models import CaseGroup
from relevancy.views.forms import LineField

from . import group_schedules, schedules
from .models import Schedule, ScheduledCheck


class BaseScheduleForm(forms.Form):
    """When a case or group is run, and who is told about a drop."""

    cron = LineField(
        label="Times",
        max_length=100,
        help_text="As in cron: minute, hour, day of the month, month, day of the week. 0 2 * * * is every night at 2:00.",
        error_messages={"required": "Enter the times, such as 0 2 * * *."},
    )
    time_zone = forms.ChoiceField(
        label="Time zone", choices=lambda: [(name, name) for name in sorted(available_timezones())]
    )
    is_active = forms.BooleanField(label="Run at these times", required=False)
    max_drop = forms.FloatField(
        label="Allowed drop",
        min_value=0,
        max_value=100,
        help_text="Points. A drop is reported if it is larger, and is not noise.",
    )
    recipients = forms.ModelMultipleChoiceField(
        User.objects.none(), label="E-mail", required=False, widget=forms.CheckboxSelectMultiple
    )
    webhook_url = LineField(
        label="Webhook",
        max_length=500,
        required=False,
        help_text="An address that gets the result as JSON, signed. Empty: none.",
    )

    def __init__(self, people: QuerySet[User], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        recipients: Any = self.fields["recipients"]
        recipients.queryset = people
        if not settings.MAIL_HOST:
            recipients.help_text = "No mail server is set on this site, so no e-mail will be sent."


class ScheduleForm(BaseScheduleForm):
    """The schedule of a case."""

    attempt = forms.ModelChoiceField(
        Attempt.objects.none(), label="Attempt", required=False, empty_label="The newest one"
    )
    baseline = forms.ModelChoiceField(
        Run.objects.none(), label="Compare with", required=False, empty_label="The scheduled run before"
    )
    field_order = ("cron", "time_zone", "is_active", "attempt", "baseline")

    def __init__(self, case: Case, *args: Any, **kwargs: Any) -> None:
        super().__init__(schedules.possible_recipients(case), *args, **kwargs)
        fields: dict[str, Any] = self.fields
        fields["attempt"].queryset = case.attempts.order_by("-number")
        fields["baseline"].queryset = case.runs.filter(status=Run.Status.COMPLETE).order_by("-number")


class CheckChoiceField(forms.ModelChoiceField):
    """A choice of checks by their time."""

    def label_from_instance(self, check: ScheduledCheck) -> str:
        return f"Runs of {date_format(localtime(check.created_at), 'j M Y, H:i')}, {check.status}"


class GroupScheduleForm(BaseScheduleForm):
    """The schedule of a group: each case runs its newest attempt."""

    baseline_check = CheckChoiceField(
        ScheduledCheck.objects.none(), label="Compare with", required=False, empty_label="The scheduled runs before"
    )
    field_order = ("cron", "time_zone", "is_active", "baseline_check")

    def __init__(self, group: CaseGroup, *args: Any, **kwargs: Any) -> None:
        super().__init__(group_schedules.group_recipients(group), *args, **kwargs)
        fields: dict[str, Any] = self.fields
        fields["baseline_check"].queryset = group_schedules.baseline_checks(group)


def initial_values(schedule: Schedule | None) -> dict[str, Any]:
    """Returns what the form starts with."""
    if schedule is None:
        return {"cron": "0 2 * * *", "time_zone": settings.TIME_ZONE, "is_active": True, "max_drop": 0}
    return {
        "cron": schedule.cron,
        "time_zone": schedule.time_zone,
        "is_active": schedule.next_at is not None,
        "attempt": schedule.attempt_id,
        "baseline": schedule.baseline_id,
        "baseline_check": schedule.baseline_check_id,
        "max_drop": schedule.max_drop,
        "recipients": schedule.recipients.all(),
        "webhook_url": schedule.webhook_url,
    }
