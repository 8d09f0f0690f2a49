"""Arithmetic on grades: measures, bounds, grades from ratings; the working of a score and its reasons.

numpy only: no Django, no network, no clock.
"""

from .batch import Batch
from .definition import Definition, Example, Parameter
from .errors import GradeError, MeasureError, ScaleError
from .evaluate import evaluate
from .explanation import Explanation, explain, explain_grades
from .gap import ideal_scores
from .grades import RULES, combine, combine_many
from .known import Known
from .measure import Measure, parse_measure, write_measure
from .registry import definitions
from .scale import Scale, map_grades
from .score import CaseScore, Scores, case_score, score, values
from .table import Column, Row, Working
from .working import show_working

__all__ = [
    "RULES",
    "Batch",
    "CaseScore",
    "Column",
    "Definition",
    "Example",
    "Explanation",
    "GradeError",
    "Known",
    "Measure",
    "MeasureError",
    "Parameter",
    "Row",
    "Scale",
    "ScaleError",
    "Scores",
    "Working",
    "case_score",
    "combine",
    "combine_many",
    "definitions",
    "evaluate",
    "explain",
    "explain_grades",
    "ideal_scores",
    "map_grades",
    "parse_measure",
    "score",
    "show_working",
    "values",
    "write_measure",
]
