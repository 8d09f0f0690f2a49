"""Workroom: cases with their queries, attempts, endpoints, scorers and teams.

Read as sentences: `cases.create(name=…, owner=user)`, `cases.queries.add(case=…, texts=…)`, `cases.attempts.save(case=…, …)`.
"""

from . import (
    annotations,
    attempts,
    changing,
    completions,
    endpoints,
    making,
    offers,
    queries,
    scorers,
    tags,
    teams,
    uploads,
)
from .creating import (
    add_scorer,
    archive,
    choose_scorers,
    create,
    default_scorer,
    drop_scorer,
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
    "add_scorer",
    "annotations",
    "archive",
    "attempts",
    "cases_for",
    "changing",
    "choose_scorers",
    "completions",
    "create",
    "default_scorer",
    "drop_scorer",
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
    "scorers",
    "share",
    "tags",
    "teams",
    "unshare",
    "uploads",
]
