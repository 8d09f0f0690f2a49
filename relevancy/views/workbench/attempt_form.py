"""The form of the tune pane: an attempt to be run or previewed."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.forms import model_to_dict

from relevancy import runs
from relevancy.models import Attempt, Case, Endpoint, User
from relevancy.views.forms import CodeField, FormData, LineField, add_errors, mark_location
from relevancy.views.requests import parse_number

KNOB_PREFIX = "knob."
SECRETS = ("endpoint__credentials", "endpoint__headers")  # read only when an engine is searched


class KnobsInput(forms.Widget):
    """Reads all knobs that were sent, each as `knob.NAME`; the pane draws them itself."""

    def value_from_datadict(self, data: Mapping[str, str], files: object, name: str) -> dict[str, str]:
        return {key.removeprefix(KNOB_PREFIX): data[key] for key in data if key.startswith(KNOB_PREFIX)}

    def value_omitted_from_data(self, data: Mapping[str, str], files: object, name: str) -> bool:
        return False


class KnobsField(forms.Field):
    """Knobs by name, as text. Which of them the template uses, and whether they are numbers, is checked with it."""

    widget = KnobsInput


class EndpointChoiceField(forms.ModelChoiceField):
    """Endpoints with the engine they have."""

    def label_from_instance(self, obj: Endpoint) -> str:
        return f"{obj.name} ({obj.engine})"


class AttemptForm(forms.Form):
    """Template and settings of the next attempt.

    Checks what a form can check; `save` and `build` add the errors of the template, the displayed fields and the knobs,
    which depend on the engine.
    """

    parent = forms.CharField(required=False, widget=forms.HiddenInput)
    template = CodeField(
        required=False,
        widget=forms.Textarea(
            attrs={
                "class": "input",
                "rows": 10,
                "spellcheck": "false",
                "aria-label": "Template",
                "data-key-go": "t",
            }
        ),
    )
    knobs = KnobsField(required=False)
    depth = forms.IntegerField(
        label="Results shown",
        min_value=1,
        max_value=1000,
        error_messages={
            "required": "Enter the number of results, 1 to 1,000.",
            **dict.fromkeys(("invalid", "min_value", "max_value"), "Enter a whole number from 1 to 1,000."),
        },
    )
    name = LineField(label="Name of the next attempt", required=False, max_length=120)
    escape = forms.BooleanField(
        label="Escape Lucene’s special characters in queries",
        required=False,
        help_text="For the query syntax of Solr and Lucene. Text in JSON templates is always quoted.",
    )

    def __init__(self, case: Case, user: User, attempt: Attempt | None, data: FormData | None = None) -> None:
        """`attempt` is shown unless `data` says what the user sent."""
        super().__init__(data, auto_id="%s", initial=_initial(attempt) if attempt else None)
        self._case = case
        # Not declared in the class, where the name would hide the fields of the form.
        self.fields["fields"] = forms.CharField(
            label="Displayed fields",
            required=False,
            max_length=2000,
            widget=forms.TextInput(
                attrs={"list": "field-names", "data-completes": "", "autocomplete": "off", "spellcheck": "false"}
            ),
        )
        usable = Endpoint.objects.usable_in(case, user).live()
        endpoints = Endpoint.objects.filter(
            Q(pk__in=usable.values("pk")) | Q(pk=attempt.endpoint_id if attempt else None)
        )
        self.fields["endpoint"] = EndpointChoiceField(
            endpoints.defer("credentials", "headers"),
            empty_label=None,
            error_messages=dict.fromkeys(("required", "invalid_choice"), "Choose an endpoint from the list."),
        )
        if attempt:
            self._mark_changes(attempt)

    def _mark_changes(self, attempt: Attempt) -> None:
        """Gives each control the value of the attempt, so that the page can tell what the user has changed."""
        for name, value in _initial(attempt).items():
            if name != "parent":
                base = ("1" if value else "") if isinstance(value, bool) else value
                self.fields[name].widget.attrs["data-base"] = base
        self.fields["template"].widget.attrs["data-editor"] = runs.attempts.syntax(attempt.endpoint, attempt.template)

    def error_texts(self) -> list[str]:
        """Returns the errors of all fields."""
        return [str(error) for listed in self.errors.values() for error in listed]

    def knob_values(self) -> dict[str, str]:
        """Returns the knobs as they were sent; empty if nothing was."""
        values: dict[str, str] = self["knobs"].value() or {}
        return values

    def save(self, *, by: User) -> Attempt | None:
        """Returns the stored attempt, which is its parent if nothing was changed; None, with errors, if it is not valid."""
        if not self.is_valid():
            return None
        content = {name: value for name, value in self.cleaned_data.items() if name != "parent"}
        try:
            return runs.attempts.save(case=self._case, by=by, parent=self._parent(), **content)
        except ValidationError as error:
            self._add_service_error(error)
            return None

    def build(self) -> Attempt | None:
        """Returns the attempt without storing it; None, with errors, if it is not valid."""
        if not self.is_valid():
            return None
        content = {name: self.cleaned_data[name] for name in ("endpoint", "template", "fields", "knobs", "depth")}
        try:
            content["knobs"] = runs.attempts.check(**content)
        except ValidationError as error:
            self._add_service_error(error)
            return None
        return Attempt(case=self._case, number=0, escape=self.cleaned_data["escape"], **content)

    def _parent(self) -> Attempt | None:
        attempts = Attempt.objects.filter(case=self._case).select_related("endpoint", "case").defer(*SECRETS)
        parent: Attempt | None = attempts.filter(number=parse_number(self.cleaned_data["parent"])).first()
        return parent

    def _add_service_error(self, error: ValidationError) -> None:
        add_errors(self, error)
        mark_location(self.fields["template"], error)


def _initial(attempt: Attempt) -> dict[str, Any]:
    return {"parent": attempt.number, **model_to_dict(attempt, ["template", "endpoint", "fields", "depth", "escape"])}
