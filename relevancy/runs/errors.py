"""Errors of runs."""

from django.core.exceptions import ValidationError


class RunNotAllowed(ValidationError):
    """A run that cannot be started or changed, or an endpoint that cannot be searched. The message is written for users."""

    def __str__(self) -> str:
        return " ".join(self.messages)
