"""Workroom: one file per format, in and out."""

from . import documents, ratings_csv, run_csv, sample, trec
from .cells import decode
from .errors import BadFile
from .report import report

__all__ = ["BadFile", "decode", "documents", "ratings_csv", "report", "run_csv", "sample", "trec"]
