"""Workroom: ask engines, score what they return, score again after a rating.

Read as sentences: `evaluation.start(attempt=…, by=…)`, `evaluation.rescore_query(run, query_id)`. Nothing here enqueues: the doors do.
"""

from relevancy.engines import EngineError, TemplateError
from relevancy.scoring.errors import ScoringError

from .asking import Asker, as_sent, asked
from .bench import try_measure
from .chunk import Step, to_search
from .claiming import sweep, waiting_behind
from .connecting import check_address, connect, connection
from .grades import known_grades, scale_of
from .history import (
    Standing,
    attempts_with_scores,
    history,
    ids_look_wrong,
    newest_run,
    run_to_show,
    standing,
    unsearched,
)
from .results import Result, Said, results
from .running import (
    CannotRun,
    cancel,
    complete,
    continue_run,
    finish_here,
    search_again,
    start,
)
from .scores import depth_of, has_stale, lock_queries, measure_of, rescore_query, rescore_run, score_case, versions_of

__all__ = [
    "Asker",
    "CannotRun",
    "EngineError",
    "Result",
    "Said",
    "ScoringError",
    "Standing",
    "Step",
    "TemplateError",
    "as_sent",
    "asked",
    "attempts_with_scores",
    "cancel",
    "check_address",
    "complete",
    "connect",
    "connection",
    "continue_run",
    "depth_of",
    "finish_here",
    "has_stale",
    "history",
    "ids_look_wrong",
    "known_grades",
    "lock_queries",
    "measure_of",
    "newest_run",
    "rescore_query",
    "rescore_run",
    "results",
    "run_to_show",
    "scale_of",
    "score_case",
    "search_again",
    "standing",
    "start",
    "sweep",
    "to_search",
    "try_measure",
    "unsearched",
    "versions_of",
    "waiting_behind",
]
