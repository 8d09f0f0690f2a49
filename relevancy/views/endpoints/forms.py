"""The form of an endpoint. What is secret is written, never shown."""

from copy import copy
from typing import Any, Self, cast

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.core.validators import BaseValidator
from django.db import models
from django.forms.boundfield import BoundField
from django.template.loader import render_to_string
from django.utils.datastructures import MultiValueDict

from relevancy import endpoints
from relevancy.engines.types import OptionInfo, Preset
from relevancy.models import Endpoint
from relevancy.views.forms import FormData, InitialValues, errors_to

FILL = "fill"  # buttons that fill in the form of an endpoint, such as that of a preset, instead of saving it
SECRETS = ("username", "password", "api_key", "bearer")


class Needed(forms.Field):
    """Marked as required, but its form reports a missing value: whether the field is needed depends on other fields."""

    def validate(self, value: object) -> None:
        if value not in self.empty_values:
            super().validate(value)


class NeededText(Needed, forms.CharField):
    pass


class NeededChoice(Needed, forms.ChoiceField):
    pass


class NeededFile(Needed, forms.FileField):
    pass


class NeededModel(Needed, forms.ModelChoiceField):
    pass


def _secret(label: str) -> forms.CharField:
    widget = forms.PasswordInput(attrs={"autocomplete": "new-password"}, render_value=False)
    return forms.CharField(label=label, required=False, max_length=2000, widget=widget)


def option_field(info: OptionInfo) -> forms.Field:
    """Returns the form field of an engine's option. Its value is checked when the endpoint is built."""
    field: forms.Field
    attributes = {"class": "mono", "autocomplete": "off", "spellcheck": "false"}
    if info.kind == "choice":
        field = NeededChoice(choices=[(choice, choice) for choice in info.choices], initial=info.choices[0])
    elif info.kind in ("template", "script"):
        widget = forms.Textarea(attrs={**attributes, "rows": 4 if info.kind == "template" else 6})
        field = forms.CharField(required=info.required, strip=False, widget=widget)
    else:
        field = NeededText(required=info.required, widget=forms.TextInput(attrs=attributes))
    field.label, field.help_text = info.label, info.help
    return field


class EngineRadioSelect(forms.RadioSelect):
    """Radio buttons with `data-address` (kind of the engine's address) and `data-options` (it has options).

    Style sheets show the fields that belong to the chosen engine.
    """

    def create_option(self, name: str, value: object, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option = super().create_option(name, value, *args, **kwargs)
        engine = endpoints.get_engine(str(value))
        option["attrs"]["data-address"] = engine.address.kind
        if engine.options:
            option["attrs"]["data-options"] = engine.key
        return option


class TryForm(forms.Form):
    text = forms.CharField(label="Try it with the query", required=False, max_length=2048)


class EndpointForm(forms.ModelForm):
    """A new endpoint, or changes to one. Its instance is a copy: the service changes the endpoint."""

    engine = forms.ChoiceField(widget=EngineRadioSelect, error_messages={"required": "Choose the engine."})
    file = forms.FileField(
        label="Rankings",
        help_text="CSV with query, document id and position; or a TREC run.",
        error_messages={"required": "Choose a file of rankings."},
    )
    preset = forms.ChoiceField(
        required=False, help_text="Fills in the fields below as the documentation of the product says. Adapt them then."
    )
    username = forms.CharField(required=False, max_length=200, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    password = _secret("Password")
    api_key = _secret("API key")
    bearer = _secret("Bearer token")
    headers = forms.CharField(
        label="Further headers",
        required=False,
        max_length=8000,
        widget=forms.Textarea(attrs={"rows": 2, "class": "mono"}),
        help_text="One to a line, Name: value. Kept secret like a password.",
    )
    clear = forms.BooleanField(label="Forget the stored credentials and headers", required=False)

    class Meta:
        model = Endpoint
        fields = ["name", "engine", "url", "parallel", "per_minute"]
        help_texts = {"name": "What it is called where it is chosen."}
        error_messages = {"name": {"required": "Name the endpoint."}, "url": {"required": "Enter the address."}}
        widgets = {"url": forms.TextInput(attrs={"class": "mono", "inputmode": "url"})}

    def __init__(
        self,
        data: FormData | None = None,
        files: MultiValueDict[str, UploadedFile] | None = None,
        *,
        endpoint: Endpoint | None = None,
        stored_file: str = "",
        initial: InitialValues | None = None,
    ) -> None:
        """endpoint: the one to be changed; None for a new one. stored_file: name of a file that was uploaded before."""
        options = {f"option_{name}": value for name, value in endpoint.options.items()} if endpoint else {}
        super().__init__(data, files, instance=copy(endpoint), initial=options | (initial or {}))  # type: ignore[arg-type]
        self.endpoint = endpoint
        self.address_note = ""
        self.chosen_preset: Preset | None = None
        self.stored_file = stored_file or (
            endpoint.url if endpoint and endpoints.is_file_engine(endpoint.engine) else ""
        )
        if self.is_bound:
            is_file = endpoints.is_file_engine(self["engine"].value() or "")
            self.fields["url"].required = not is_file
            self.fields["file"].required = is_file and not self.stored_file
        engines = endpoints.available_engines()
        self.fields["engine"].choices = [(engine.key, engine.label) for engine in engines]  # type: ignore[attr-defined]
        self.fields["url"].help_text = render_to_string(
            "endpoints/_address_help.html",
            {"engines": engines, "field": self.add_prefix("engine"), "chosen": self["engine"].value()},
        )
        self.presets = {preset.key: (engine.key, preset) for engine in engines for preset in engine.presets}
        labels = [(key, preset.label) for key, (_, preset) in self.presets.items()]
        self.fields["preset"].choices = [("", "Choose one"), *labels]  # type: ignore[attr-defined]
        if not labels:
            del self.fields["preset"]
        self.engine_options = {option.name: option for engine in engines for option in engine.options}
        for option in self.engine_options.values():
            self.fields[f"option_{option.name}"] = option_field(option)
        if not self.stored:
            del self.fields["clear"]
        for name in ("parallel", "per_minute"):  # the browser checks what the model allows
            checks = cast(models.IntegerField[int, int], Endpoint._meta.get_field(name)).validators
            limits = {check.code: check.limit_value for check in checks if isinstance(check, BaseValidator)}
            self.fields[name].widget.attrs |= {"min": limits["min_value"], "max": limits["max_value"]}

    @property
    def stored(self) -> bool:
        """Secrets are kept for this endpoint."""
        return bool(self.endpoint and (self.endpoint.credentials or self.endpoint.headers))

    def clean_headers(self) -> dict[str, str]:
        headers: dict[str, str] = {}
        for number, line in enumerate(self.cleaned_data["headers"].splitlines(), 1):
            name, colon, value = line.partition(":")
            if not line.strip():
                continue
            if not colon or not name.strip() or " " in name.strip():
                raise forms.ValidationError(f"Line {number} is not a header. Write it as Name: value.")
            if not value.strip():
                raise forms.ValidationError(
                    f"Line {number}: the header {name.strip()} has no value. Enter it, or delete the line."
                )
            headers[name.strip()] = value.strip()
        return headers

    def clean(self) -> dict[str, object]:
        data = super().clean() or self.cleaned_data
        with errors_to(self):
            endpoints.check_credentials(self.credentials)
        if data.get("url") and data.get("engine"):
            entered = data["url"]
            data["url"] = endpoints.address_of_page(engine=data["engine"], url=entered)
            if data["url"] != entered:
                self.address_note = f"Your address is that of a page of the engine; the address used is {data['url']}."
        return data

    @property
    def settings(self) -> dict[str, Any]:
        """What was entered, as `endpoints.create` and `endpoints.update` take it."""
        data = self.cleaned_data
        fields = {name: data[name] for name in self._meta.fields or () if name in data}
        return fields | {"headers": data.get("headers", {}), "credentials": self.credentials, "options": self.options}

    @property
    def options(self) -> dict[str, str]:
        """The endpoint's options: those of the chosen engine from the form, others as stored."""
        stored = self.endpoint.options if self.endpoint else {}
        options = {name: value for name, value in stored.items() if name not in self.engine_options}
        for option in endpoints.get_engine(self.cleaned_data["engine"]).options:
            value = str(self.cleaned_data.get(f"option_{option.name}") or "").replace("\r\n", "\n")
            if value.strip():
                options[option.name] = value
        return options

    @classmethod
    def filled_in(cls, data: FormData, *, endpoint: Endpoint | None = None) -> Self:
        """Returns the form as it was sent, not validated, with the fields of the chosen preset filled in if that is what was asked for.

        The address stays as it is, and so do headers that were entered or are stored. Passwords and keys have to be entered again.
        """
        initial: InitialValues = {str(name): value for name, value in data.items() if name not in SECRETS}
        form = cls(endpoint=endpoint, initial=initial)
        if data.get(FILL) != "preset":
            return form
        engine, form.chosen_preset = form.presets.get(str(data.get("preset")), ("", None))
        if form.chosen_preset is None:
            return form
        options = form.chosen_preset.options
        form.initial["engine"] = engine
        for name in form.engine_options:
            form.initial[f"option_{name}"] = options.get(name, "")
        if not str(data.get("headers") or "").strip() and not (endpoint and endpoint.headers):
            form.initial["headers"] = "".join(f"{name}: \n" for name in form.chosen_preset.headers)
        return form

    @property
    def option_fields(self) -> list[BoundField]:
        """The engine's options that most endpoints need."""
        return [self[f"option_{name}"] for name, option in self.engine_options.items() if not option.advanced]

    @property
    def advanced_option_fields(self) -> list[BoundField]:
        """The engine's options that some endpoints need."""
        return [self[f"option_{name}"] for name, option in self.engine_options.items() if option.advanced]

    @property
    def has_advanced_options(self) -> bool:
        """An advanced option is set or invalid."""
        return any(field.errors or field.value() for field in self.advanced_option_fields)

    @property
    def credentials(self) -> dict[str, str]:
        """What was entered this time."""
        return {name: self.cleaned_data[name] for name in SECRETS if self.cleaned_data.get(name)}
