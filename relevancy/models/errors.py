"""Reading and writing Django's `ValidationError`, which every service raises for input it cannot accept."""

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError


def error_text(error: Exception) -> str:
    """Returns what an exception says, as one paragraph; of a `ValidationError` all messages, without the names of the fields."""
    return " ".join(error.messages) if isinstance(error, ValidationError) else str(error)


def error_fields(error: ValidationError) -> list[str]:
    """Returns the names of the fields an error is about; empty if it is about the whole object."""
    fields = list(error.error_dict) if hasattr(error, "error_dict") else []
    return [name for name in fields if name != NON_FIELD_ERRORS]


def located_error(field: str, message: str, *, line: int | None, column: int | None) -> ValidationError:
    """Returns an error of a script or template that names the location, counted from 1; see `error_location`."""
    params = {"message": message, "line": line, "column": column}
    return ValidationError({field: ValidationError("%(message)s", code="syntax", params=params)})


def error_location(error: ValidationError) -> tuple[int | None, int | None]:
    """Returns line and column of the first located error; `(None, None)` if there is none."""
    errors = [single for listed in error.error_dict.values() for single in listed] if error_fields(error) else []
    params = next((single.params for single in errors if single.params and "line" in single.params), {})
    return params.get("line"), params.get("column")
