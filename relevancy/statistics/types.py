"""The types of this package, for annotations. Interfaces may import this module, but no functions of the package."""

from .agreement import Agreement, Coefficient, PairAgreement
from .corrected_scores import CorrectedScore
from .intervals import Interval, IntervalKind
from .level_changes import LevelChange
from .verdicts import PairedComparison, Verdict

__all__ = [
    "Agreement",
    "Coefficient",
    "CorrectedScore",
    "Interval",
    "IntervalKind",
    "LevelChange",
    "PairAgreement",
    "PairedComparison",
    "Verdict",
]
