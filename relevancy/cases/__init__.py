"""Workroom: cases with their queries, attempts, endpoints, scorers and teams.

Read as sentences: `cases.create(name=…, owner=user)`, `cases.queries.add(case=…, texts=…)`, `cases.attempts.save(case=…, …)`.
"""

from . import attempts, endpoints, queries, teams
from .creating import (
    archive,
    choose_scorers,
    create,
    default_scorer,
    make_primary,
    rename,
    restore,
    share,
    unshare,
)
from .errors import Refused
from .scales import newest_version, parse_scale

__all__ = [
    "Refused",
    "archive",
    "attempts",
    "choose_scorers",
    "create",
    "default_scorer",
    "endpoints",
    "make_primary",
    "newest_version",
    "parse_scale",
    "queries",
    "rename",
    "restore",
    "share",
    "teams",
    "unshare",
]
