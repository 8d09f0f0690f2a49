"""Arithmetic on grades: measures, the range of a score, its reasons and its working; grades from ratings; scales.

numpy only: no Django, no network, no clock. Start with `parse_measure`, `Batch.build` and `score`, or with `evaluate`
for plain dictionaries.
"""

from .batch import Batch
from .definition import Definition, Example, Parameter, Settings
from .errors import GradeError, MeasureError, ScaleError, ScoringError, UnknownMeasure
from .known_grades import KnownGrades
from .means import case_mean, exact_units, points
from .measure import Measure
from .notation import build_measure, parse_measure
from .qrels import evaluate, mean_value
from .rating_rules import RULES, Rating, combine_ratings
from .reasons.sentence import ScoreReasons, describe_ranking
from .registry import get_definitions
from .scale import Scale, map_grades, parse_grades, parse_labelled_scale, smallest_scale
from .scores import Scores, give_reasons, score, show_working
from .slots import Slots
from .workings.table import Column, Row, Working

__all__ = [
    "RULES",
    "Batch",
    "Column",
    "Definition",
    "Example",
    "GradeError",
    "KnownGrades",
    "Measure",
    "MeasureError",
    "Parameter",
    "Rating",
    "Row",
    "Scale",
    "ScaleError",
    "ScoreReasons",
    "Scores",
    "ScoringError",
    "Settings",
    "Slots",
    "UnknownMeasure",
    "Working",
    "build_measure",
    "case_mean",
    "combine_ratings",
    "describe_ranking",
    "evaluate",
    "exact_units",
    "get_definitions",
    "give_reasons",
    "map_grades",
    "mean_value",
    "parse_grades",
    "parse_labelled_scale",
    "parse_measure",
    "points",
    "score",
    "show_working",
    "smallest_scale",
]
