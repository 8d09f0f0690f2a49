"""Service: imports and exports, one module per file format."""

from . import (
    agreement_json,
    case_zip,
    compared_queries_csv,
    comparison_json,
    documents,
    evaluation_json,
    evaluation_junit,
    evaluation_markdown,
    queries_csv,
    query_list_csv,
    ratings_csv,
    ratings_preview,
    run_csv,
    runs_file,
    sample,
    scorer_file,
    trec,
)
from .cells import decode
from .errors import BadFile

__all__ = [
    "BadFile",
    "agreement_json",
    "case_zip",
    "compared_queries_csv",
    "comparison_json",
    "decode",
    "documents",
    "evaluation_json",
    "evaluation_junit",
    "evaluation_markdown",
    "queries_csv",
    "query_list_csv",
    "ratings_csv",
    "ratings_preview",
    "run_csv",
    "runs_file",
    "sample",
    "scorer_file",
    "trec",
]
