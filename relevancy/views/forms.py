"""What all forms share: fields for text that is stored, and errors that services raise."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.core.validators import ProhibitNullCharactersValidator

from relevancy.formats.file_formats import FileKind, products
from relevancy.models.errors import error_location, error_text
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


class WholeFileForm(forms.Form):
    """A file with a whole case or book. products: those whose files can be read."""

    file = forms.FileField(
        label="File",
        error_messages={"required": "Choose a file."},
        widget=forms.FileInput(attrs={"accept": ".json,.zip,application/json,application/zip"}),
    )

    def __init__(self, kind: FileKind, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.products = products(kind)
        noun = kind.removeprefix("a whole ")
        self.fields["file"].help_text = f"A {noun} that {self.products} exported, as JSON or ZIP."


def form_error(form: forms.BaseForm) -> ValidationError:
    """Returns the errors of a form as one, for views that answer with a message instead of the form."""
    return ValidationError(form.errors.as_data())


class errors_to:
    """`with errors_to(form):` calls a service and returns a response. What the service refuses is shown in the form instead."""

    def __init__(self, form: forms.BaseForm) -> None:
        self._form = form

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if not isinstance(error, ValidationError):
            return False
        add_errors(self._form, error)
        return True


def add_errors(form: forms.BaseForm, error: ValidationError) -> None:
    """Adds each message of a service's error to the form's field of that name, or to the form if it has no such field."""
    if not hasattr(error, "error_dict"):
        form.add_error(None, error)
        return
    for name, errors in error.error_dict.items():
        form.add_error(name if name in form.fields and name != NON_FIELD_ERRORS else None, errors)


def mark_location(field: forms.Field, error: ValidationError) -> None:
    """Lets the editor of a field mark where an error is, if that is known."""
    line, column = error_location(error)
    if line is not None:
        field.widget.attrs |= {
            "data-error-line": line,
            "data-error-column": column or 1,
            "data-error-text": error_text(error),
        }
