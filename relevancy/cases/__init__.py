"""Service: cases, from set-up to archive."""

from . import annotations
from .activity import recent_activity
from .cases import archive, build_book, create, rename, restore, share, unshare
from .dashboard import CaseRow, Waiting, case_rows, find_cases, waiting_for
from .deletion import Losses, delete, losses
from .duplicates import Duplicate, duplicate
from .knob_ranges import KnobRange, list_knob_ranges, set_knob_ranges
from .setup import CaseSetup, CreatedCase, create_from_setup, seal, unseal

__all__ = [
    "CaseRow",
    "CaseSetup",
    "CreatedCase",
    "Duplicate",
    "KnobRange",
    "Losses",
    "Waiting",
    "annotations",
    "archive",
    "build_book",
    "case_rows",
    "create",
    "create_from_setup",
    "delete",
    "duplicate",
    "find_cases",
    "list_knob_ranges",
    "losses",
    "recent_activity",
    "rename",
    "restore",
    "seal",
    "set_knob_ranges",
    "share",
    "unseal",
    "unshare",
    "waiting_for",
]
