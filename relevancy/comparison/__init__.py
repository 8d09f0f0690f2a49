"""Service: compares two runs or more, with tests, intervals and the overlap of their result lists."""

from .comparisons import MAX_RUNS, Comparison, RunPair, compare
from .gates import DEFAULT_ALPHA, DropCheck, check_drop, check_limits
from .result_lists import ListOverlap, compare_result_lists
from .score_tables import ScoreTable, read_score_table
from .sentences import describe_verdict

__all__ = [
    "DEFAULT_ALPHA",
    "MAX_RUNS",
    "Comparison",
    "DropCheck",
    "ListOverlap",
    "RunPair",
    "ScoreTable",
    "check_drop",
    "check_limits",
    "compare",
    "compare_result_lists",
    "describe_verdict",
    "read_score_table",
]
