"""Saving a row with values that users entered: validated first, and again if another transaction took a unique value meanwhile."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, models, transaction


def clean_and_save(instance: models.Model, **changes: Any) -> None:
    """Sets the changed attributes, validates the instance by `full_clean()` and saves it; a new instance is saved whole.

    Relations are not looked up: services set them to rows they have read.
    Raises `ValidationError`; the attributes then have their former values. It is also raised where a unique constraint is
    violated by a row that was committed after the validation.
    """
    relations = {field.name for field in instance._meta.fields if field.is_relation}
    former = {name: getattr(instance, name) for name in changes}
    for name, value in changes.items():
        setattr(instance, name, value)
    try:
        instance.full_clean(exclude=relations)
        try:
            with transaction.atomic():
                instance.save(update_fields=list(changes) or None)
        except IntegrityError:
            instance.full_clean(exclude=relations)  # names the field whose value is taken by now
            raise
    except (ValidationError, IntegrityError):
        for name, value in former.items():
            setattr(instance, name, value)
        raise
