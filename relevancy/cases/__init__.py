"""Workroom: cases with their queries, attempts, endpoints, scorers and teams.

Read as sentences: `cases.create(name=…, owner=user)`, `cases.queries.add(case=…, texts=…)`, `cases.attempts.save(case=…, …)`.
"""

from . import attempts, changing, endpoints, making, offers, queries, teams, uploads
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
from .reading import cases_for, lately
from .scales import newest_version, parse_scale

__all__ = [
    "Refused",
    "archive",
    "attempts",
    "cases_for",
    "changing",
    "choose_scorers",
    "create",
    "default_scorer",
    "endpoints",
    "lately",
    "make_primary",
    "making",
    "newest_version",
    "offers",
    "parse_scale",
    "queries",
    "rename",
    "restore",
    "share",
    "teams",
    "unshare",
    "uploads",
]
