"""The forms about clicks: a log, and how its estimates become grades."""

import math
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from relevancy import transfer
from relevancy.models import ClickLog
from relevancy.views.forms import LineField, LogSourceForm

# Evidence that a rating should have, in examinations: the standard error of a share of 20 % is 0.09 then.
MIN_EVIDENCE = 20


class ClickLogForm(LogSourceForm):
    """A search log with clicks, and the click model."""

    file = forms.FileField(
        label="Search log",
        required=False,
        help_text="CSV with the columns query, count, docid, position and clicks: in how many searches the document was shown at this "
        "position, and in how many of these it was clicked. Or ubi_queries of User Behavior Insights.",
    )
    events = forms.FileField(
        label="Events", required=False, help_text="Only with ubi_queries: ubi_events, one JSON object to a line."
    )
    actions = LineField(
        label="Clicks are the events",
        required=False,
        max_length=200,
        initial=transfer.ubi.CLICK,
        help_text="Values of action_name, separated by commas.",
    )
    method = forms.ChoiceField(label="Click model", choices=ClickLog.Method.choices, initial=ClickLog.Method.POSITION)
    strength = forms.FloatField(
        label="Strength of the prior",
        min_value=0,
        max_value=transfer.click_logs.MAX_STRENGTH,
        initial=10,
        help_text="In examinations: how many users who look at a document weigh as much as what is usual at its positions.",
    )

    def clean_actions(self) -> set[str]:
        actions = {name.strip() for name in self.cleaned_data["actions"].split(",") if name.strip()}
        return actions or {transfer.ubi.CLICK}


class ThresholdsForm(forms.Form):
    """How estimates become grades."""

    thresholds = LineField(
        max_length=500,
        help_text="The least estimate of each grade above the lowest one, ascending, separated by spaces.",
        error_messages={"required": "Enter a threshold for each grade above the lowest one."},
    )
    min_evidence = forms.FloatField(
        label="Least evidence",
        min_value=0,
        max_value=1e12,
        initial=MIN_EVIDENCE,
        help_text="In examinations. Documents with less get no rating.",
    )

    def clean_thresholds(self) -> list[float]:
        return [_parse(text) for text in self.cleaned_data["thresholds"].replace(";", " ").split()]

    @staticmethod
    def initial_values(thresholds: list[float], min_evidence: float) -> dict[str, Any]:
        return {"thresholds": " ".join(f"{value:g}" for value in thresholds), "min_evidence": min_evidence}


def _parse(text: str) -> float:
    try:
        value = float(text.rstrip(","))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValidationError(f"“{text[:40]}” is not a number. Write decimals with a point.")
    return value
