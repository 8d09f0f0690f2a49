"""Service: attempts and their runs, from the first search to the results."""

from . import attempts
from .access import SEARCH_ERRORS, RunNotAllowed, why_not_usable
from .attempt_changes import find_changes
from .chunks import ChunkResult, describe_endpoint_change, endpoint_changed
from .claims import MAX_WORKER_RESTARTS, is_idle, max_requests, release_dead, take_lease, waiting_behind, waiting_runs
from .depth import deepen, depth_of
from .explanation_differences import ExplanationDifference, compare_explanations
from .explanations import (
    COLOURS,
    DocumentExplanation,
    explain,
    explain_results,
    stored_explanations,
)
from .finding import MAX_TEXT as MAX_FIND_TEXT
from .finding import DocumentPosition, FoundDocument, FoundDocuments, find_documents
from .imported import ImportedRankings, ensure_imported_endpoint, import_rankings, is_for_imported, is_imported
from .page_requests import abilities, engine_of, interpret, missing_engine
from .pins import describe, pin, unpin
from .requests import RequestBuilder, document_url, field_spec, query_options, rendered_request, snapshot_config
from .results import Result, build_results
from .retention import clean_documents, has_prunable_runs, prune_display_fields
from .runs import (
    cancel,
    complete,
    continue_run,
    count_unsearched,
    finish_here,
    search_again,
    start,
    sweep,
)
from .stored import store_attempts, store_run
from .trials import MAX_TRIED_QUERIES, Trial, try_attempt
from .unretrieved import count_unretrieved, list_unretrieved, look_up

__all__ = [
    "COLOURS",
    "MAX_FIND_TEXT",
    "MAX_TRIED_QUERIES",
    "MAX_WORKER_RESTARTS",
    "SEARCH_ERRORS",
    "ChunkResult",
    "DocumentExplanation",
    "DocumentPosition",
    "ExplanationDifference",
    "FoundDocument",
    "FoundDocuments",
    "ImportedRankings",
    "RequestBuilder",
    "Result",
    "RunNotAllowed",
    "Trial",
    "abilities",
    "attempts",
    "build_results",
    "cancel",
    "clean_documents",
    "compare_explanations",
    "complete",
    "continue_run",
    "count_unretrieved",
    "count_unsearched",
    "deepen",
    "depth_of",
    "describe",
    "describe_endpoint_change",
    "document_url",
    "endpoint_changed",
    "engine_of",
    "ensure_imported_endpoint",
    "explain",
    "explain_results",
    "field_spec",
    "find_changes",
    "find_documents",
    "finish_here",
    "has_prunable_runs",
    "import_rankings",
    "interpret",
    "is_for_imported",
    "is_idle",
    "is_imported",
    "list_unretrieved",
    "look_up",
    "max_requests",
    "missing_engine",
    "pin",
    "prune_display_fields",
    "query_options",
    "release_dead",
    "rendered_request",
    "search_again",
    "snapshot_config",
    "start",
    "store_attempts",
    "store_run",
    "stored_explanations",
    "sweep",
    "take_lease",
    "try_attempt",
    "unpin",
    "waiting_behind",
    "waiting_runs",
    "why_not_usable",
]
