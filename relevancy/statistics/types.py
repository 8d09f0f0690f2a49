"""The types of this package, for annotations. Interfaces may import this module, but no functions of the package."""

from .agreement import Agreement, Coefficient
from .intervals import Interval
from .level_changes import LevelChange
from .verdicts import PairedComparison, Verdict

__all__ = [
    "Agreement",
    "Coefficient",
    "Interval",
    "LevelChange",
    "PairedComparison",
    "Verdict",
]
