"""The types of this package, for annotations. Interfaces may import this module, but no functions of the package."""

from .agreement import Agreement, Coefficient
from .intervals import Interval
from .level_changes import LevelChange
from .raters import AgreeingRaters, PairAgreement, RaterFigures
from .verdicts import PairedComparison, Verdict

__all__ = [
    "AgreeingRaters",
    "Agreement",
    "Coefficient",
    "Interval",
    "LevelChange",
    "PairAgreement",
    "PairedComparison",
    "RaterFigures",
    "Verdict",
]
