"""Workroom: ask engines, score what they return, score again after a rating.

Read as sentences: `evaluation.start(attempt=…, by=…)`, `evaluation.rescore_query(run, query_id)`. Nothing here enqueues: the doors do.
"""

from relevancy.engines import EngineError, TemplateError
from relevancy.scoring.errors import ScoringError

from .asking import Asker, asked
from .bench import try_measure
from .connecting import connect, connection
from .grades import known_grades, scale_of
from .results import Result, Said, results
from .running import (
    CannotRun,
    Step,
    cancel,
    complete,
    continue_run,
    finish_here,
    search_again,
    start,
    sweep,
    to_search,
    waiting_behind,
)
from .scores import depth_of, has_stale, measure_of, rescore_query, rescore_run, score_case, versions_of

__all__ = [
    "Asker",
    "CannotRun",
    "EngineError",
    "Result",
    "Said",
    "ScoringError",
    "Step",
    "TemplateError",
    "asked",
    "cancel",
    "complete",
    "connect",
    "connection",
    "continue_run",
    "depth_of",
    "finish_here",
    "has_stale",
    "known_grades",
    "measure_of",
    "rescore_query",
    "rescore_run",
    "results",
    "scale_of",
    "score_case",
    "search_again",
    "start",
    "sweep",
    "to_search",
    "try_measure",
    "versions_of",
    "waiting_behind",
]
