"""Service: cases, from set-up to archive."""

from . import annotations
from .activity import recent_activity
from .cases import archive, create, rename, restore, share, unshare
from .dashboard import CaseRow, case_rows, find_cases
from .setup import CaseSetup, create_with_first_run, seal, unseal

__all__ = [
    "CaseRow",
    "CaseSetup",
    "annotations",
    "archive",
    "case_rows",
    "create",
    "create_with_first_run",
    "find_cases",
    "recent_activity",
    "rename",
    "restore",
    "seal",
    "share",
    "unseal",
    "unshare",
]
