"""Service: computes, stores and updates the scores of rankings and cases."""

from .book_previews import (
    CaseScorePreview,
    ComputedCaseScore,
    count_changed_grades,
    join_scores,
    preview_case_scores,
    score_cases,
)
from .comparison import (
    IS_BETTER,
    IS_SAME,
    IS_WORSE,
    RunDifference,
    baseline_of,
    baselines_of,
    compare_runs,
    current_comparisons,
    forget_comparisons,
    store_comparison,
    stored_differences,
)
from .cutoffs import considered_depth, cutoff_of
from .grades import RatingRow, combine_grades, counting, known_grades, scale_of
from .history import (
    LargestGap,
    ScoredAttempt,
    SecondaryScore,
    attempts_with_scores,
    compared_attempts,
    ids_look_wrong,
    is_settled,
    largest_gap,
    recent_case_scores,
    secondary_scores,
)
from .packages import missing_measures
from .previews import ScorerPreview, explain_score, infer_scale, preview_grades, preview_query, suggest_output_range
from .ratings import QueryRatings, RatingRecord
from .rescoring import QueryRescorer, RescoredQuery, rescore_case, rescore_query, rescore_run
from .revisions import book_changed, case_changed, query_ratings_changed, ratings_changed, tags_changed
from .scale_mapping import mapped_scales, scales_differ
from .score_rankings import compute_scores, ranking_inputs, score_known, scoreable_versions
from .stale_scores import count_stale, queue_rescore
from .storage import PAUSE_SECONDS, lock_queries, score_case, store
from .switched_off import SwitchedOffScorer, switched_off_scorers

__all__ = [
    "IS_BETTER",
    "IS_SAME",
    "IS_WORSE",
    "PAUSE_SECONDS",
    "CaseScorePreview",
    "ComputedCaseScore",
    "LargestGap",
    "QueryRatings",
    "QueryRescorer",
    "RatingRecord",
    "RatingRow",
    "RescoredQuery",
    "RunDifference",
    "ScoredAttempt",
    "ScorerPreview",
    "SecondaryScore",
    "SwitchedOffScorer",
    "attempts_with_scores",
    "baseline_of",
    "baselines_of",
    "book_changed",
    "case_changed",
    "combine_grades",
    "compare_runs",
    "compared_attempts",
    "compute_scores",
    "considered_depth",
    "count_changed_grades",
    "count_stale",
    "counting",
    "current_comparisons",
    "cutoff_of",
    "explain_score",
    "forget_comparisons",
    "ids_look_wrong",
    "infer_scale",
    "is_settled",
    "join_scores",
    "known_grades",
    "largest_gap",
    "lock_queries",
    "mapped_scales",
    "missing_measures",
    "preview_case_scores",
    "preview_grades",
    "preview_query",
    "query_ratings_changed",
    "queue_rescore",
    "ranking_inputs",
    "ratings_changed",
    "recent_case_scores",
    "rescore_case",
    "rescore_query",
    "rescore_run",
    "scale_of",
    "scales_differ",
    "score_case",
    "score_cases",
    "score_known",
    "scoreable_versions",
    "secondary_scores",
    "store",
    "store_comparison",
    "stored_differences",
    "suggest_output_range",
    "switched_off_scorers",
    "tags_changed",
]
