"""Workroom: ask engines, score what they return, score again after a rating.

Read as sentences: `evaluation.start(attempt=…, by=…)`, `evaluation.rescore_query(run, query_id)`. Nothing here enqueues: the doors do.
"""

from relevancy.engines import EngineError, TemplateError
from relevancy.sandbox import SandboxError, ScriptError
from relevancy.scoring.errors import ScoringError

from .asking import Asker, as_sent, asked
from .bench import Tried, scale_for, try_query, try_typed
from .chunk import Step, to_search
from .claiming import sweep, waiting_behind
from .connecting import check_address, connect, connection
from .definitions import check, formula, measures, script_reference, write_measure
from .explaining import Explained, can_explain, explain
from .forgetting import forget_fields, forgettable
from .grades import known_grades, scale_of
from .history import (
    Beside,
    Gain,
    Standing,
    attempts_with_scores,
    beside,
    history,
    ids_look_wrong,
    most_to_gain,
    newest_run,
    run_to_show,
    standing,
    unsearched,
)
from .missing import Missing, NotShown, can_look_up, count_not_shown, look_up, not_shown
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
from .scorers import Draft, deepen, depth_of, differs, mapped, measure_of, newer_versions, versions_of
from .scores import has_stale, lock_queries, rescore_query, rescore_run, score_case

__all__ = [
    "Asker",
    "Beside",
    "CannotRun",
    "Draft",
    "EngineError",
    "Explained",
    "Gain",
    "Missing",
    "NotShown",
    "Result",
    "Said",
    "SandboxError",
    "ScoringError",
    "ScriptError",
    "Standing",
    "Step",
    "TemplateError",
    "Tried",
    "as_sent",
    "asked",
    "attempts_with_scores",
    "beside",
    "can_explain",
    "can_look_up",
    "cancel",
    "check",
    "check_address",
    "complete",
    "connect",
    "connection",
    "continue_run",
    "count_not_shown",
    "deepen",
    "depth_of",
    "differs",
    "explain",
    "finish_here",
    "forget_fields",
    "forgettable",
    "formula",
    "has_stale",
    "history",
    "ids_look_wrong",
    "known_grades",
    "lock_queries",
    "look_up",
    "mapped",
    "measure_of",
    "measures",
    "most_to_gain",
    "newer_versions",
    "newest_run",
    "not_shown",
    "rescore_query",
    "rescore_run",
    "results",
    "run_to_show",
    "scale_for",
    "scale_of",
    "score_case",
    "script_reference",
    "search_again",
    "standing",
    "start",
    "sweep",
    "to_search",
    "try_query",
    "try_typed",
    "unsearched",
    "versions_of",
    "waiting_behind",
    "write_measure",
]
