"""Arithmetic on grades: measures, bounds, grades from ratings. numpy only: no Django, no network, no clock."""

from .batch import Batch
from .definition import Definition, Parameter
from .errors import GradeError, MeasureError, ScaleError
from .evaluate import evaluate
from .grades import RULES, combine, combine_many
from .known import Known
from .measure import Measure, parse_measure
from .registry import definitions
from .scale import Scale
from .score import CaseScore, Scores, case_score, score, values

__all__ = [
    "RULES",
    "Batch",
    "CaseScore",
    "Definition",
    "GradeError",
    "Known",
    "Measure",
    "MeasureError",
    "Parameter",
    "Scale",
    "ScaleError",
    "Scores",
    "case_score",
    "combine",
    "combine_many",
    "definitions",
    "evaluate",
    "parse_measure",
    "score",
    "values",
]
