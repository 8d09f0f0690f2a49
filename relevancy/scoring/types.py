"""The types of this package, for annotations. Interfaces may import this module, but no functions of the package."""

from .definition import Definition, Example, Parameter
from .errors import GradeError, MeasureError, ScaleError, ScoringError, UnknownMeasure
from .measure import Measure
from .reasons.sentence import ScoreReasons
from .scale import Scale
from .scores import Scores
from .workings.table import Column, Row, State, Working

__all__ = [
    "Column",
    "Definition",
    "Example",
    "GradeError",
    "Measure",
    "MeasureError",
    "Parameter",
    "Row",
    "Scale",
    "ScaleError",
    "ScoreReasons",
    "Scores",
    "ScoringError",
    "State",
    "UnknownMeasure",
    "Working",
]
