"""Workroom: one file per format, in and out."""

from . import documents, list_csv, ratings_csv, run_csv, sample, scorer_file, trec
from .cells import decode
from .errors import BadFile
from .report import report

__all__ = [
    "BadFile",
    "decode",
    "documents",
    "list_csv",
    "ratings_csv",
    "report",
    "run_csv",
    "sample",
    "scorer_file",
    "trec",
]
