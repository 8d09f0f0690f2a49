"""Service: the report of a case: what one of its runs says about ratings, search times and failures, and what to do next."""

from . import judging_order
from .case_report import CaseReport, ReportQuery, ScoreStep, TagReport, build_report
from .planning import DEFAULT_DIFFERENCES, DifferencePlan, PastComparison, QueryPlan, find_planned_runs
from .rating_candidates import RatingCandidate
from .search_times import SearchTimes

__all__ = [
    "DEFAULT_DIFFERENCES",
    "CaseReport",
    "DifferencePlan",
    "PastComparison",
    "QueryPlan",
    "RatingCandidate",
    "ReportQuery",
    "ScoreStep",
    "SearchTimes",
    "TagReport",
    "build_report",
    "find_planned_runs",
    "judging_order",
]
