"""The form that tries a mapping."""

from django import forms
from django.forms.boundfield import BoundField

from relevancy.views.endpoints.forms import FILL, SECRETS, option_field
from relevancy.views.forms import FormData

from .engine import HttpApiEngine
from .mappings import MAPPING_OPTIONS


class MappingForm(forms.Form):
    """A response, and the options of an endpoint that read it.

    `kept`: what else was entered in the form of the endpoint, by name, without passwords, keys and headers. It goes back there.
    """

    response = forms.CharField(
        label="Response of the API",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 14, "class": "mono", "spellcheck": "false", "autocomplete": "off"}),
        help_text="JSON, such as the output of curl.",
    )
    text = forms.CharField(label="Query", required=False, max_length=2048)

    def __init__(self, values: FormData) -> None:
        """values: of this form, or of the form of an endpoint. Nothing of them is invalid: mistakes are a part of the result."""
        super().__init__(initial={str(name): value for name, value in values.items()})
        for option in MAPPING_OPTIONS:
            self.fields[f"option_{option.name}"] = option_field(option)
        own = {"csrfmiddlewaretoken", "headers", "clear", "file", FILL, *SECRETS, *self.fields}
        self.kept = {str(name): str(value) for name, value in values.items() if name not in own}
        self.kept["engine"] = HttpApiEngine.key

    @property
    def options(self) -> dict[str, str]:
        """The options of the mapping, by name."""
        return {option.name: str(self[f"option_{option.name}"].value() or "") for option in MAPPING_OPTIONS}

    @property
    def option_fields(self) -> list[BoundField]:
        return [self[f"option_{option.name}"] for option in MAPPING_OPTIONS]
