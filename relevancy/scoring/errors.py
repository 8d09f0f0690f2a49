"""What can be wrong with what scoring is given. The texts are meant for the user."""

from __future__ import annotations


class ScoringError(ValueError):
    """Base of the family."""


class MeasureError(ScoringError):
    """A measure's name, parameter, value or cutoff that does not exist."""


class ScaleError(ScoringError):
    """A scale that is none: not ascending, below zero, unreadable."""


class GradeError(ScoringError):
    """A grade that is no number or lies outside its scale, or rankings and grades that do not fit together."""
