"""The forms about search logs: how queries are drawn, which click model sees the clicks, and how its estimates become grades."""

import math
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from relevancy.models import Endpoint, User
from relevancy.views.forms import LineField

from . import log_formats, query_samples
from .click_logs import MAX_STRENGTH
from .models import ClickLog
from .search_log import MAX_ON_PAGE, SearchLog
from .ubi import CLICK

# Evidence that a rating should have, in examinations: the standard error of a share of 20 % is 0.09 then.
MIN_EVIDENCE = 20
MAX_SEED = 2**31 - 1


class LogSourceForm(forms.Form):
    """A search log: a file, in the field `file` of the subclass, or an endpoint whose server has records of UBI."""

    endpoint = forms.ModelChoiceField(
        Endpoint.objects.none(),
        label="Or read from",
        required=False,
        empty_label="No endpoint",
        help_text="The indexes ubi_queries and ubi_events of the server of an endpoint that you may change.",
    )
    days = forms.IntegerField(
        label="Days",
        min_value=1,
        max_value=log_formats.MAX_DAYS,
        initial=30,
        required=False,
        help_text="Of an endpoint: how many days are read. Empty: all.",
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        readable = log_formats.readable_endpoints(user)
        if readable.exists():
            field: Any = self.fields["endpoint"]
            field.queryset = readable
        else:
            del self.fields["endpoint"], self.fields["days"]
            self.fields["file"].required = True
            self.fields["file"].error_messages["required"] = "Choose a search log."
        self.order_fields(["file", "endpoint", "days"])

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("file") and data.get("endpoint"):
            self.add_error("endpoint", "Choose a file or an endpoint, not both.")
        elif "endpoint" in self.fields and not data.get("file") and not data.get("endpoint") and not self.errors:
            self.add_error("file", "Choose a search log.")
        return data

    def read(self, **options: Any) -> SearchLog:
        """Reads the log of the valid form. options: of `log_formats.read_endpoint`. Raises `BadFile`."""
        data = self.cleaned_data
        if endpoint := data.get("endpoint"):
            return log_formats.read_endpoint(endpoint, days=data["days"], for_page=True, **options)
        options.pop("with_events", None)
        return log_formats.read_log(data["file"], data.get("events"), limit=MAX_ON_PAGE, **options)

    @property
    def source_name(self) -> str:
        """The name of the file or the endpoint."""
        return str(self.cleaned_data.get("endpoint") or self.cleaned_data["file"].name)


class QueryLogForm(LogSourceForm):
    """A search log, and how queries of it are drawn."""

    file = forms.FileField(
        label="Search log",
        required=False,
        help_text="CSV with the columns query and count; or ubi_queries of User Behavior Insights, one JSON object to a line. In CSV "
        "with docid, position and clicks as well, the count says how often the document was shown there.",
    )
    method = forms.ChoiceField(
        label="Draw",
        choices=list(query_samples.METHODS.items()),
        widget=forms.RadioSelect,
        initial="frequency",
    )
    size = forms.IntegerField(
        label="Queries",
        min_value=1,
        max_value=query_samples.MAX_SIZE,
        initial=100,
        help_text="Without replacement.",
    )
    seed = forms.IntegerField(
        min_value=0, max_value=MAX_SEED, help_text="The same log, method, number and seed give the same queries."
    )
    only_these = forms.BooleanField(
        label="Give the other queries of the case the weight 0",
        required=False,
        help_text="Then the score of the case is that of the sample. The others keep their ratings and scores.",
    )


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
        initial=CLICK,
        help_text="Values of action_name, separated by commas.",
    )
    method = forms.ChoiceField(label="Click model", choices=ClickLog.Method.choices, initial=ClickLog.Method.POSITION)
    strength = forms.FloatField(
        label="Strength of the prior",
        min_value=0,
        max_value=MAX_STRENGTH,
        initial=10,
        help_text="In examinations: how many users who look at a document weigh as much as what is usual at its positions.",
    )

    def clean_actions(self) -> set[str]:
        actions = {name.strip() for name in self.cleaned_data["actions"].split(",") if name.strip()}
        return actions or {CLICK}


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
