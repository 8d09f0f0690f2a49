"""What callers send: a name that an operation does not know is refused, with the nearest one that it knows.

Otherwise a misspelled name would change nothing without a word: a schedule with `webhook` instead of `webhook_url` alerts nobody.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Self

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from ninja import Schema
from ninja.params.models import QueryModel
from ninja.signature import ViewSignature
from pydantic import ConfigDict, ModelWrapValidatorHandler, model_validator
from pydantic_core import PydanticCustomError

from relevancy.wording import unknown_name


class Input(Schema):
    """The base of all bodies and query parameters."""

    # Not extra="forbid": its message does not name what is known.
    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})

    # mode="wrap": a validator of Ninja hides the names from those that run before the fields are read.
    @model_validator(mode="wrap")
    @classmethod
    def _check_names(cls, values: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if isinstance(values, dict):
            for name in values:
                if name not in cls.model_fields:
                    # Braces in it would be read as placeholders, so the message is a value itself.
                    context = {"name": name, "message": unknown_name(name, cls.model_fields)}
                    raise PydanticCustomError("unknown_name", "{message}", context)
        return handler(values)


class Changes(Input):
    """The base of bodies that change an object: every field is optional, and one that is left out or null stays as it is.

    A subclass that also derives from the body of a new object has its fields, with their limits. `model_dump(exclude_none=True)`
    returns what is to be changed.
    """

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        super().__pydantic_init_subclass__(**options)
        for field in cls.model_fields.values():
            field.annotation = field.annotation | None  # type: ignore[operator, assignment]
            field.default, field.default_factory = None, None
        cls.model_rebuild(force=True)


def refuse_unknown_parameters(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates an operation: query parameters that it does not declare are refused."""
    known = {
        name
        for model in ViewSignature("", operation).models
        if issubclass(model, QueryModel)
        for name in model.__ninja_flatten_map__
    }

    @wraps(operation)
    def checked(request: HttpRequest, *args: Any, **values: Any) -> Any:
        unknown = {name: unknown_name(name, known) for name in request.GET if name not in known}
        if unknown:
            raise ValidationError(unknown)
        return operation(request, *args, **values)

    return checked
