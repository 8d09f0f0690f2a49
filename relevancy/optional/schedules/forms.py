"""The form for the schedule of a case or a group."""

from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.utils.formats import date_format
from django.utils.timezone import localtime

from relevancy.models import Case, Run

from . import schedules
from .models import Schedule, ScheduledCheck


class CheckChoiceField(forms.ModelChoiceField):
    """A choice of checks by their time."""

    def label_from_instance(self, check: ScheduledCheck) -> str:
        return f"Runs of {date_format(localtime(check.created_at), 'j M Y, H:i')}, {check.status}"


class ScheduleForm(forms.ModelForm):
    """When a case or group is run, what it is compared with, and who is told about a drop."""

    time_zone = forms.ChoiceField(choices=lambda: [(name, name) for name in sorted(available_timezones())])
    is_active = forms.BooleanField(label="Run at these times", required=False)

    class Meta:
        model = Schedule
        fields = ["cron", "time_zone", "attempt", "baseline", "baseline_check", "max_drop", "recipients", "webhook_url"]
        field_classes = {"baseline_check": CheckChoiceField}
        widgets = {"recipients": forms.CheckboxSelectMultiple}
        error_messages = {"cron": {"required": "Enter the times, such as 0 2 * * *."}}

    field_order = ("cron", "time_zone", "is_active")

    def __init__(self, schedule: Schedule, data: Any = None) -> None:
        initial = {"is_active": schedule.next_at is not None}
        if schedule.pk is None:
            initial = {"cron": "0 2 * * *", "time_zone": settings.TIME_ZONE, "is_active": True}
        super().__init__(data, instance=schedule, initial=initial)
        scheduled = schedule.scheduled
        fields: dict[str, Any] = self.fields
        fields["recipients"].queryset = schedules.possible_recipients(scheduled)
        fields["recipients"].help_text = (
            "" if settings.MAIL_HOST else "No mail server is set on this site, so no e-mail will be sent."
        )
        if isinstance(scheduled, Case):
            del fields["baseline_check"]
            self._limit("attempt", scheduled.attempts.order_by("-number"), "The newest one")
            complete = scheduled.runs.filter(status=Run.Status.COMPLETE).order_by("-number")
            self._limit("baseline", complete, "The scheduled run before")
        else:
            del fields["attempt"], fields["baseline"]
            self._limit("baseline_check", schedules.baseline_checks(scheduled), "The scheduled runs before")

    def _limit(self, name: str, choices: Any, empty_label: str) -> None:
        field: Any = self.fields[name]
        field.queryset, field.empty_label = choices, empty_label
