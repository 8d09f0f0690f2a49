"""Service: compares two runs or more, with tests, intervals and the overlap of their result lists."""

from relevancy.statistics import TIE, Verdict

from . import stored
from .best_order import BEST_ORDER, Gain, GainSplit, best_order, check_best_order, find_gain, split_gains
from .bounds import score_ranges
from .chart_contents import ChartContent, describe_change, list_charts
from .comparisons import MAX_RUNS, Comparison, RunPair, compare, list_warnings, name_runs
from .distributions import Distribution
from .figures import ComparisonFigures, PairFigures, compute_figures
from .gates import (
    DEFAULT_ALPHA,
    DropCheck,
    check_drop,
    check_limits,
    find_run_errors,
    format_difference,
)
from .large_figures import ONLY_FIGURES, LargeFigures, LargePair, build_large, dump_large, has_large
from .queries_to_add import count_queries_to_add
from .query_rows import SORT_KEYS, STATES, QueryRow, list_rows, select_rows
from .ratings_to_add import DocumentToRate, RatingPlan, RatingPlanner, build_planner
from .result_lists import ResultList, read_lists, unique
from .run_scorer import RunScorer, has_exact_range
from .score_tables import ScoreTable, read_score_table
from .sentences import (
    describe_carriers,
    describe_difference,
    describe_groups,
    describe_lopsided,
    describe_verdict,
    format_detectable,
)
from .summaries import Figure, PairSummary, list_figures, list_rating_warnings, summarize_pair, summarize_pending
from .tag_figures import MAX_TAGS, TagDifference, TagFigures, compare_tags
from .tag_sentences import describe_correction, describe_tags

__all__ = [
    "BEST_ORDER",
    "DEFAULT_ALPHA",
    "MAX_RUNS",
    "MAX_TAGS",
    "ONLY_FIGURES",
    "SORT_KEYS",
    "STATES",
    "TIE",
    "ChartContent",
    "Comparison",
    "ComparisonFigures",
    "Distribution",
    "DocumentToRate",
    "DropCheck",
    "Figure",
    "Gain",
    "GainSplit",
    "LargeFigures",
    "LargePair",
    "PairFigures",
    "PairSummary",
    "QueryRow",
    "RatingPlan",
    "RatingPlanner",
    "ResultList",
    "RunPair",
    "RunScorer",
    "ScoreTable",
    "TagDifference",
    "TagFigures",
    "Verdict",
    "best_order",
    "build_large",
    "build_planner",
    "check_best_order",
    "check_drop",
    "check_limits",
    "compare",
    "compare_tags",
    "compute_figures",
    "count_queries_to_add",
    "describe_carriers",
    "describe_change",
    "describe_correction",
    "describe_difference",
    "describe_groups",
    "describe_lopsided",
    "describe_tags",
    "describe_verdict",
    "dump_large",
    "find_gain",
    "find_run_errors",
    "format_detectable",
    "format_difference",
    "has_exact_range",
    "has_large",
    "list_charts",
    "list_figures",
    "list_rating_warnings",
    "list_rows",
    "list_warnings",
    "name_runs",
    "read_lists",
    "read_score_table",
    "score_ranges",
    "select_rows",
    "split_gains",
    "stored",
    "summarize_pair",
    "summarize_pending",
    "unique",
]
