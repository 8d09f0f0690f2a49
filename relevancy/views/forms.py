"""What all forms share: fields for text that is stored, and errors that services raise."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.core.validators import ProhibitNullCharactersValidator

from relevancy import endpoints, transfer
from relevancy.models import Endpoint, User
from relevancy.models.text import normalize_line, normalize_text, unify_newlines, validate_line, validate_text

# What a form is bound to, such as `request.POST`; and what its fields start with.
type FormData = Mapping[str, object]
type InitialValues = dict[str, object]


class _StoredTextField(forms.CharField):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        # Our own validator reports U+0000 too.
        self.validators = [check for check in self.validators if not isinstance(check, ProhibitNullCharactersValidator)]


class LineField(_StoredTextField):
    """Text on one line, normalized as `relevancy.models.text` describes."""

    default_validators = [validate_line]

    def to_python(self, value: Any) -> str:
        return normalize_line(super().to_python(value) or "")


class MultilineField(_StoredTextField):
    """Text of several lines, normalized as `relevancy.models.text` describes."""

    default_validators = [validate_text]
    widget = forms.Textarea

    def to_python(self, value: Any) -> str:
        return normalize_text(super().to_python(value) or "")


class CodeField(_StoredTextField):
    """A script or template: LF line endings, otherwise as it was typed."""

    default_validators = [validate_text]
    widget = forms.Textarea

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(strip=False, **kwargs)

    def to_python(self, value: Any) -> str:
        return unify_newlines(super().to_python(value) or "")


class UncheckedTextField(_StoredTextField):
    """Text exactly as it was sent, or none. For text that a service checks and explains better than a field can."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(strip=False, required=False, **kwargs)


def form_error(form: forms.BaseForm) -> ValidationError:
    """Returns the errors of a form as one, for views that answer with a message instead of the form."""
    return ValidationError(form.errors.as_data())


def add_errors(form: forms.BaseForm, error: ValidationError) -> None:
    """Adds each message of a service's error to the form's field of that name, or to the form if it has no such field."""
    if not hasattr(error, "error_dict"):
        form.add_error(None, error)
        return
    for name, errors in error.error_dict.items():
        form.add_error(name if name in form.fields and name != NON_FIELD_ERRORS else None, errors)


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
        max_value=transfer.log_formats.MAX_DAYS,
        initial=30,
        required=False,
        help_text="Of an endpoint: how many days are read. Empty: all.",
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        readable = endpoints.with_behaviour(user)
        if readable.exists():
            field: Any = self.fields["endpoint"]
            field.queryset = readable
        else:
            del self.fields["endpoint"], self.fields["days"]
        self.order_fields(["file", "endpoint", "days"])

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("file") and data.get("endpoint"):
            self.add_error("endpoint", "Choose a file or an endpoint, not both.")
        elif not data.get("file") and not data.get("endpoint") and not self.errors:
            self.add_error("file", "Choose a search log.")
        return data

    def read(self, **options: Any) -> transfer.search_log.SearchLog:
        """Reads the log of the valid form. options: of `transfer.log_formats.read_endpoint`. Raises `BadFile`."""
        data = self.cleaned_data
        if endpoint := data.get("endpoint"):
            return transfer.log_formats.read_endpoint(endpoint, days=data["days"], for_page=True, **options)
        options.pop("with_events", None)
        return transfer.log_formats.read_log(
            data["file"], data.get("events"), limit=transfer.search_log.MAX_ON_PAGE, **options
        )

    @property
    def source_name(self) -> str:
        """The name of the file or the endpoint."""
        return str(self.cleaned_data.get("endpoint") or self.cleaned_data["file"].name)
