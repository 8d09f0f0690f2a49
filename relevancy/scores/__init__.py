"""Service: computes, stores and updates the scores of rankings and cases."""

from .cutoffs import considered_depth, cutoff_of
from .grades import combine_grades, known_grades, scale_of
from .history import (
    LargestGap,
    ScoreChange,
    SecondaryScore,
    attempts_with_scores,
    ids_look_wrong,
    largest_gap,
    recent_case_scores,
    score_change,
    secondary_scores,
)
from .packages import missing_measures
from .previews import ScorerPreview, explain_score, infer_scale, preview_grades, preview_query
from .ratings import QueryRatings, RatingRecord
from .rescoring import QueryRescorer, RescoredQuery, rescore_query, rescore_run
from .scale_mapping import mapped_scales, scales_differ
from .score_rankings import compute_scores, ranking_inputs, scoreable_versions
from .stale_scores import count_stale, queue_rescore
from .storage import PAUSE_SECONDS, lock_queries, score_case, store
from .switched_off import SwitchedOffScorer, switched_off_scorers

__all__ = [
    "PAUSE_SECONDS",
    "LargestGap",
    "QueryRatings",
    "QueryRescorer",
    "RatingRecord",
    "RescoredQuery",
    "ScoreChange",
    "ScorerPreview",
    "SecondaryScore",
    "SwitchedOffScorer",
    "attempts_with_scores",
    "combine_grades",
    "compute_scores",
    "considered_depth",
    "count_stale",
    "cutoff_of",
    "explain_score",
    "ids_look_wrong",
    "infer_scale",
    "known_grades",
    "largest_gap",
    "lock_queries",
    "mapped_scales",
    "missing_measures",
    "preview_grades",
    "preview_query",
    "queue_rescore",
    "ranking_inputs",
    "recent_case_scores",
    "rescore_query",
    "rescore_run",
    "scale_of",
    "scales_differ",
    "score_case",
    "score_change",
    "scoreable_versions",
    "secondary_scores",
    "store",
    "switched_off_scorers",
]
