"""Errors caused by the input of this package. Their messages are written for users."""

from __future__ import annotations


class ScoringError(ValueError):
    """Base class of the errors of this package."""


class MeasureError(ScoringError):
    """A measure with an invalid name, parameter, parameter value or cutoff, or a broken measure package."""


class UnknownMeasure(MeasureError):
    """No installed package provides the measure. `name` is the measure's name."""

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


class ScaleError(ScoringError):
    """A rating scale that is invalid or cannot be parsed."""


class GradeError(ScoringError):
    """A grade that is not a number or not on its scale, or rankings and grades of different lengths."""
