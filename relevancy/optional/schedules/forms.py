"""The form for the schedule of a case or a group."""

from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.utils.formats import date_format
from django.utils.timezone import localtime

from relevancy.models import Case, Run

from . import schedules, times
from .models import Schedule, ScheduledCheck

DAYS = {"*": "every day", "1-5": "Monday to Friday", "1": "every Monday"}  # by the field of cron


class CheckChoiceField(forms.ModelChoiceField):
    """A choice of checks by their time."""

    def label_from_instance(self, check: ScheduledCheck) -> str:
        return f"Runs of {date_format(localtime(check.created_at), 'j M Y, H:i')}, {check.status}"


class ScheduleForm(forms.ModelForm):
    """When a case or group is run, what it is compared with, and who is told about a drop.

    days, at: the times, unless `days` is empty: then `cron` has them.
    """

    days = forms.ChoiceField(label="Run", choices=[*DAYS.items(), ("", "at times as in cron")], required=False)
    at = forms.TimeField(
        required=False,
        widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
        error_messages={"invalid": "Enter a time, such as 06:00."},
    )
    time_zone = forms.ChoiceField(
        choices=lambda: [(name, name) for name in sorted(available_timezones())],
        help_text="Of the times above.",
    )
    max_drop = forms.FloatField(
        label="Allowed drop",
        required=False,
        min_value=0,
        max_value=100,
        help_text="In points. Empty: every drop that is not noise is reported.",
    )
    is_active = forms.BooleanField(label="Run at these times", required=False)

    class Meta:
        model = Schedule
        fields = ["cron", "time_zone", "attempt", "baseline", "baseline_check", "max_drop", "recipients", "webhook_url"]
        field_classes = {"baseline_check": CheckChoiceField}
        widgets = {"recipients": forms.CheckboxSelectMultiple}

    field_order = ("days", "at", "cron", "time_zone", "is_active")

    def __init__(self, schedule: Schedule, data: Any = None) -> None:
        initial: dict[str, Any] = {"is_active": schedule.next_at is not None, "max_drop": schedule.max_drop or None}
        if schedule.pk is None:
            initial |= {"cron": "0 6 * * *", "time_zone": settings.TIME_ZONE, "is_active": True}
        simple = times.split_days(initial.get("cron", schedule.cron))
        initial["days"], initial["at"] = simple if simple and simple[0] in DAYS else ("", None)
        super().__init__(data, instance=schedule, initial=initial)
        scheduled = schedule.scheduled
        fields: dict[str, Any] = self.fields
        fields["cron"].required = False
        if schedule.pk is None and data is None:
            fields["time_zone"].widget.attrs["data-own-time-zone"] = ""
        if settings.MAIL_HOST:
            fields["recipients"].queryset = schedules.possible_recipients(scheduled)
        else:
            del fields["recipients"]
        if isinstance(scheduled, Case):
            del fields["baseline_check"]
            self._limit("attempt", scheduled.attempts.order_by("-number"), "The newest one")
            complete = scheduled.runs.filter(status=Run.Status.COMPLETE).order_by("-number")
            self._limit("baseline", complete, "The scheduled run before")
        else:
            del fields["attempt"], fields["baseline"]
            self._limit("baseline_check", schedules.baseline_checks(scheduled), "The scheduled runs before")

    def clean(self) -> dict[str, Any]:
        """Makes the times of days."""
        data = super().clean() or {}
        days, at = data.get("days"), data.get("at")
        if days and at:
            data["cron"] = f"{at.minute} {at.hour} * * {days}"
        elif days and "at" not in self.errors:
            self.add_error("at", "Enter a time, such as 06:00.")
        elif not days and not data.get("cron"):
            self.add_error("cron", "Enter the times, such as 0 2 * * *.")
        data["max_drop"] = data.get("max_drop") or 0.0
        if "recipients" not in self.fields:
            data["recipients"] = self.instance.recipients.all() if self.instance.pk else ()
        return data

    def _limit(self, name: str, choices: Any, empty_label: str) -> None:
        field: Any = self.fields[name]
        field.queryset, field.empty_label = choices, empty_label
