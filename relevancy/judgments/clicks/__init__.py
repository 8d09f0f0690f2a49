"""Clicks as grades: the estimates of a click model stand apart until an editor lets them count as ratings of the rater “clicks”."""

from .counting import ClickPreview, GradeShare, check_thresholds, let_count, preview, suggest_thresholds, withdraw
from .logs import MAX_ESTIMATES, EstimatedPair, LogFacts, count_ratings, newest_log, read_estimates, store_log

__all__ = [
    "MAX_ESTIMATES",
    "ClickPreview",
    "EstimatedPair",
    "GradeShare",
    "LogFacts",
    "check_thresholds",
    "count_ratings",
    "let_count",
    "newest_log",
    "preview",
    "read_estimates",
    "store_log",
    "suggest_thresholds",
    "withdraw",
]
