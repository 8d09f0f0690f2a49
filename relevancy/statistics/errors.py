"""Errors of this package."""


class StatisticsError(ValueError):
    """The figures cannot be computed from this input. The message says why."""
